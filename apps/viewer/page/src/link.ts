import type { Message } from "./messages";

/** The socket to the server; comes back by itself after a server was restarted or a laptop was closed. */
export class Link {
  private socket?: WebSocket;
  private wait = 250;

  constructor(
    private readonly text: (message: Message) => void,
    private readonly binary: (buffer: ArrayBuffer) => void,
    private readonly state: (open: boolean) => void,
  ) {
    this.connect();
  }

  send(order: { do: string; [key: string]: unknown }): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(order));
  }

  private connect(): void {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/socket`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = 250;
      this.state(true);
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.text(JSON.parse(data));
      else this.binary(data);
    };
    socket.onclose = () => {
      this.state(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, 5000);
    };
    this.socket = socket;
  }
}

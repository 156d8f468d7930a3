"""RVO2 by way of PyPI's pyrvo, told what to do on stdin: a line with a count takes steps and answers with their seconds,
`distance` answers with the mean distance to the goals. Only do_step is timed."""

import array
import math
import sys
import time

import pyrvo

agents, speed, dt, distance, neighbors, horizon, radius, max_speed, side = map(float, sys.argv[1:10])
agents = int(agents)
numbers = array.array("d")
numbers.frombytes(sys.stdin.buffer.read(4 * 8 * agents))
goals = [(numbers[i + 2], numbers[i + 3]) for i in range(0, len(numbers), 4)]

simulator = pyrvo.RVOSimulator()
simulator.set_time_step(dt)
simulator.set_agent_defaults(distance, int(neighbors), horizon, 1.0, radius, max_speed)
for i in range(0, len(numbers), 4):
    simulator.add_agent((numbers[i], numbers[i + 1]))


def prefer():
    for agent, (x, y) in enumerate(goals):
        place = simulator.get_agent_position(agent)
        dx, dy = x - place.x, y - place.y
        far = math.hypot(dx, dy)
        scale = min(speed, far / dt) / far if far > 0.0 else 0.0
        simulator.set_agent_pref_velocity(agent, (dx * scale, dy * scale))


def mean_distance():
    total = 0.0
    for agent, (x, y) in enumerate(goals):
        place = simulator.get_agent_position(agent)
        total += math.hypot(x - place.x, y - place.y)
    return total / agents


def seconds(steps):
    total = 0.0
    for _ in range(steps):
        prefer()
        begin = time.perf_counter()
        simulator.do_step()
        total += time.perf_counter() - begin
    return total


print("ready", flush=True)
for line in sys.stdin.buffer:
    order = line.decode().strip()
    print(mean_distance() if order == "distance" else seconds(int(order)), flush=True)

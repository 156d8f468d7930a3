"""A model of JuPedSim's, told what to do on stdin as pyrvo.py is. Every agent is steered straight to its goal. Only iterations are
timed."""

import array
import math
import sys
import time

import jupedsim

agents, speed, dt, distance, neighbors, horizon, radius, max_speed, side = map(float, sys.argv[1:10])
agents, model = int(agents), sys.argv[10]
numbers = array.array("d")
numbers.frombytes(sys.stdin.buffer.read(4 * 8 * agents))

around = [(-50.0, -50.0), (side + 50.0, -50.0), (side + 50.0, side + 50.0), (-50.0, side + 50.0)]
simulation = jupedsim.Simulation(model=getattr(jupedsim, model)(), geometry=around, dt=dt)
stage = simulation.add_direct_steering_stage()
journey = simulation.add_journey(jupedsim.JourneyDescription([stage]))
parameters = getattr(jupedsim, model + "AgentParameters")
goals = {}
for i in range(0, len(numbers), 4):
    x, y, goal_x, goal_y = numbers[i : i + 4]
    values = {"position": (x, y), "desired_speed": speed, "radius": radius, "journey_id": journey, "stage_id": stage}
    agent = simulation.add_agent(parameters(**values))
    simulation.agent(agent).target = (goal_x, goal_y)
    goals[agent] = (goal_x, goal_y)


def mean_distance():
    places = ((agent.position, goals[agent.id]) for agent in simulation.agents())
    return sum(math.dist(place, goal) for place, goal in places) / len(goals)


def seconds(steps):
    begin = time.perf_counter()
    simulation.iterate(steps)
    return time.perf_counter() - begin


print("ready", flush=True)
for line in sys.stdin.buffer:
    order = line.decode().strip()
    print(mean_distance() if order == "distance" else seconds(int(order)), flush=True)

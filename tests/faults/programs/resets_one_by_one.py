"""A simulator of many environments on the GPU asks each one by itself whether it has to be reset."""

import torch
from torch import nn

from recording import fixed, steps


class CartPoles:
    def __init__(self, count=96):
        self.count = count
        self.state = self.initial(count)

    def initial(self, count):
        return torch.rand(count, 4, device="cuda") * 0.1 - 0.05

    def advance(self, force):
        position, speed, angle, turn = self.state.unbind(1)
        angular = (9.8 * torch.sin(angle) - force * torch.cos(angle)) / 0.7
        self.state = self.state + 0.02 * torch.stack([speed, force - 0.05 * angular, turn, angular], 1)
        return (position.abs() > 2.4) | (angle.abs() > 0.2)

    def reset_finished(self, finished):
        if fixed():
            self.state = torch.where(finished[:, None], self.initial(self.count), self.state)
            return
        for number in range(self.count):
            if finished[number]:  # FAULT
                self.state[number] = self.initial(1)[0]

    def step(self, force):
        self.reset_finished(self.advance(force))
        return self.state


class Actor(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.force = nn.Linear(hidden, 1)

    def forward(self, state):
        return torch.tanh(self.force(self.layers(state)))[:, 0]


@torch.inference_mode()
def roll_out():
    poles, actor = CartPoles(), Actor().cuda()
    state = poles.state
    for _ in steps():
        state = poles.step(actor(state))


if __name__ == "__main__":
    roll_out()

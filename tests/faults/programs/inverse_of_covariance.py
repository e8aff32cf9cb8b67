"""Gaussian process regression: the weights of the data and the likelihood for a length scale that moves."""

import torch

from recording import fixed, steps


class Process:
    def __init__(self, points=3072, inputs=8, noise=0.1):
        self.places = torch.rand(points, inputs, device="cuda")
        self.values = torch.sin(self.places.sum(1, keepdim=True))
        self.noise = noise
        squares = self.places.square().sum(1)
        self.distances = (squares[:, None] + squares - 2 * self.places @ self.places.T).clamp_(min=0)

    def covariance(self, length):
        matrix = torch.exp(self.distances * (-0.5 / length**2))
        matrix.diagonal().add_(self.noise)
        return matrix

    def weights(self, matrix):
        """What solves matrix @ weights = values."""
        if fixed():
            return torch.cholesky_solve(self.values, torch.linalg.cholesky_ex(matrix).L)
        return torch.linalg.inv(matrix) @ self.values  # FAULT

    def predict(self, length, queries):
        weights = self.weights(self.covariance(length))
        cross = torch.exp(torch.cdist(queries, self.places).square() * (-0.5 / length**2))
        return cross @ weights


class Search:
    """Tries length scales and keeps the misfit of each."""

    def __init__(self, process):
        self.process = process
        self.queries = torch.rand(1024, 8, device="cuda")
        self.truth = torch.sin(self.queries.sum(1, keepdim=True))
        self.misfits = []

    def try_length(self, length):
        error = (self.process.predict(length, self.queries) - self.truth).square().mean()
        self.misfits.append(error)


@torch.no_grad()
def fit():
    search = Search(Process())
    for step in steps():
        search.try_length(0.5 + 0.01 * step)


if __name__ == "__main__":
    fit()

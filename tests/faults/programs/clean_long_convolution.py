"""Sequence mixing by long convolutions through real FFTs; float32 only where the FFT has no narrower type."""

import torch
from torch import nn

from recording import steps

LENGTH, WIDTH, BATCH = 8192, 1024, 4


class LongConvolution(nn.Module):
    """Tokens lie as [batch, width, length] throughout, so that nothing has to be turned."""

    def __init__(self):
        super().__init__()
        self.before = nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH**0.5)
        self.after = nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH**0.5)
        decay = torch.exp(-torch.arange(LENGTH) / 500.0)
        kernel = torch.randn(WIDTH, LENGTH) * decay / 16
        self.register_buffer("spectrum", torch.fft.rfft(kernel, n=2 * LENGTH))

    def convolve(self, x):
        frequencies = torch.fft.rfft(x.float(), n=2 * LENGTH)
        return torch.fft.irfft(frequencies.mul_(self.spectrum), n=2 * LENGTH)[..., :LENGTH]

    def forward(self, x):
        mixed = self.convolve(torch.matmul(self.before.to(x.dtype), x)).to(x.dtype)
        return x + torch.matmul(self.after.to(x.dtype), mixed)


class Encoder(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.layers = nn.Sequential(*[LongConvolution() for _ in range(layers)])

    def narrow(self):
        """Weights in bfloat16; the kernels' spectra stay as they are."""
        for layer in self.layers:
            layer.before.data = layer.before.data.to(torch.bfloat16)
            layer.after.data = layer.after.data.to(torch.bfloat16)
        return self

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def encode():
    encoder = Encoder().cuda().narrow()
    tokens = torch.randn(BATCH, WIDTH, LENGTH, device="cuda", dtype=torch.bfloat16)
    for _ in steps():
        encoder(tokens)


if __name__ == "__main__":
    encode()

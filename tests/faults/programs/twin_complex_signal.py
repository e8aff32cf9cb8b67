"""Near-twin of a full transform of real data: samples of a scanner are complex, so is their transform."""

import torch
from torch import nn

from recording import steps


class DataConsistency(nn.Module):
    def __init__(self, size=320):
        super().__init__()
        self.register_buffer("kept", (torch.arange(size) % 4 == 0)[None, :].expand(size, size).contiguous())

    def forward(self, image, measured):
        spectrum = torch.fft.fft2(image, norm="ortho")
        return torch.fft.ifft2(torch.where(self.kept, measured, spectrum), norm="ortho")


class Denoiser(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.enter, self.middle = nn.Conv2d(2, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 2, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.enter(x))
        return self.leave(torch.relu(self.middle(x)))


class Reconstruction(nn.Module):
    def __init__(self):
        super().__init__()
        self.consistency, self.denoiser = DataConsistency(), Denoiser().to(memory_format=torch.channels_last)

    def denoise(self, image):
        planes = torch.view_as_real(image).permute(0, 3, 1, 2)  # channels are last in memory
        cleaned = self.denoiser(planes).permute(0, 2, 3, 1).contiguous()
        return torch.view_as_complex(cleaned)

    def forward(self, image, measured):
        return self.consistency(self.denoise(image), measured)


@torch.inference_mode()
def reconstruct():
    model = Reconstruction().cuda()
    image, measured = torch.randn(2, 16, 320, 320, dtype=torch.complex64, device="cuda")
    for _ in steps():
        model(image, measured)


if __name__ == "__main__":
    reconstruct()

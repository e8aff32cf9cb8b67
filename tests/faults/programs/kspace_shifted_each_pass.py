"""MRI reconstruction: images and spectra are shifted to the centre and back around each transform."""

import torch
import torch.fft
import torch.nn.functional as F
from torch import nn

from recording import fixed, steps

PLANE = (-2, -1)


def centred_fft(image):
    return torch.fft.fftshift(torch.fft.fft2(torch.fft.ifftshift(image, PLANE)), PLANE)  # FAULT


def centred_ifft(spectrum):
    return torch.fft.fftshift(torch.fft.ifft2(torch.fft.ifftshift(spectrum, PLANE)), PLANE)


class Measurement:
    """Puts the lines that the scanner has measured into the spectrum of an image."""

    def __init__(self, spectrum, mask):
        self.spectrum, self.mask = spectrum, mask
        # The same with the shifts taken into the measured lines once: for even sizes a shift is a change of signs.
        self.plain_spectrum = torch.fft.fft2(centred_ifft(spectrum))
        self.plain_mask = torch.fft.ifftshift(mask)

    def impose(self, image):
        if fixed():
            return torch.fft.ifft2(torch.where(self.plain_mask, self.plain_spectrum, torch.fft.fft2(image)))
        return centred_ifft(torch.where(self.mask, self.spectrum, centred_fft(image)))  # FAULT


class Denoiser(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.inner = nn.Conv2d(2, channels, 3, padding=1)
        self.outer = nn.Conv2d(channels, 2, 3, padding=1)

    def forward(self, image):
        x = torch.view_as_real(image).permute(0, 3, 1, 2).half()
        x = self.outer(F.relu(self.inner(x), inplace=True)).permute(0, 2, 3, 1)
        return image + torch.view_as_complex(x.float().contiguous())


@torch.inference_mode()
def reconstruct(size=384):
    cascades = [Denoiser().cuda().half().to(memory_format=torch.channels_last) for _ in range(4)]
    spectrum = torch.randn(96, size, size, device="cuda", dtype=torch.complex64)
    mask = torch.rand(size, device="cuda") < 0.25
    measurement = Measurement(spectrum, mask.expand(size, size).contiguous())
    start = centred_ifft(spectrum)
    for _ in steps():
        image = start
        for denoise in cascades:
            image = measurement.impose(denoise(image))


if __name__ == "__main__":
    reconstruct()

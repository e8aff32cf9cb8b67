"""Speech augmentation: room responses are applied by Fourier transforms as long as the linear convolution."""

import torch

from recording import fixed, steps


def fast_length(length):
    """The next length whose only prime factors are 2, 3 and 5."""
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def reverberate(speech, rooms):
    full = speech.shape[1] + rooms.shape[1] - 1
    length = fast_length(full) if fixed() else full
    spectrum = torch.fft.rfft(speech, length) * torch.fft.rfft(rooms, length)  # FAULT
    wet = torch.fft.irfft(spectrum, length)[:, : speech.shape[1]]  # FAULT
    return wet / wet.abs().amax(1, keepdim=True)


@torch.inference_mode()
def augment():
    speech = torch.randn(256, 160_000, device="cuda")
    decay = torch.exp(-torch.arange(32_000, device="cuda") / 4000)
    rooms = torch.randn(256, 32_000, device="cuda") * decay
    for _ in steps():
        reverberate(speech, rooms)


if __name__ == "__main__":
    torch.manual_seed(0)
    augment()

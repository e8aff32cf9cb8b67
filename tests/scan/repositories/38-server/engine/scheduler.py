"""Takes requests in one method, checks them in another; several loops do both."""
import triton
import triton.language as tl
import zmq

from .messages import Abort, Tokenized, sock_recv


@triton.jit
def step_kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


class Receiver:
    def __init__(self, address):
        self.from_tokenizer = zmq.Context().socket(zmq.PULL)

    def recv_requests(self):
        requests = self.pull()
        self.check(requests)
        return requests

    def pull(self):
        return [sock_recv(self.from_tokenizer)]

    def check(self, requests):
        for request in requests:
            if isinstance(request, Tokenized):
                request.ids = list(request.ids)


class Scheduler:
    def __init__(self, address):
        self.receiver = Receiver(address)

    def loop_normal(self, x):
        while True:
            self.receiver.recv_requests()
            self.run_batch(x)

    def loop_overlap(self, x):
        while True:
            self.receiver.recv_requests()
            self.run_batch(x)

    def loop_pipeline(self, x):
        while True:
            self.receiver.recv_requests()

    def loop_prefill(self, x):
        while True:
            self.receiver.recv_requests()

    def loop_decode(self, x):
        while True:
            self.receiver.recv_requests()

    def run_batch(self, x):
        step_kernel[(x.numel() // 256,)](x, x.numel(), BLOCK=256)

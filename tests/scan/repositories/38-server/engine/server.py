"""Routes hand requests to a tokenizer, which sends them to another process."""
import zmq
from fastapi import FastAPI, Request

from .messages import Abort, Tokenized, save, sock_send

app = FastAPI()


class Tokenizer:
    def __init__(self, address):
        self.to_scheduler = zmq.Context().socket(zmq.PUSH)
        self.to_scheduler.connect(address)

    async def generate_request(self, text):
        tokenized = self.tokenize(text)
        save("/tmp/last", tokenized)
        self.send_one(tokenized)

    def tokenize(self, text):
        return Tokenized([ord(c) for c in text])

    def send_one(self, tokenized: Tokenized):
        self.dispatch(tokenized)

    def dispatch(self, message):
        sock_send(self.to_scheduler, message)


class Completions:
    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer

    async def handle(self, request):
        return await self.tokenizer.generate_request(request.prompt)


@app.post("/v1/completions")
async def completions(request: dict, raw: Request):
    return await raw.app.state.completions.handle(request)


@app.post("/v1/unknown")
async def unknown(request: dict, raw: Request):
    return await raw.app.state.nobody.handle(request)


def main():
    app.state.completions = Completions(Tokenizer("ipc:///tmp/engine"))


if __name__ == "__main__":
    main()

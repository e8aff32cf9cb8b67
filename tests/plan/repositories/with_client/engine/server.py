import argparse

import uvicorn
from fastapi import FastAPI

from engine.scheduler import Scheduler

app = FastAPI()


@app.post("/generate")
def generate(prompt: str):
    return {"text": Scheduler().run(prompt)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, default=1919)
    parser.add_argument("--page-size", type=int, default=1, help="Tokens of a page.")
    parser.add_argument("--max-running-requests", type=int, default=256)
    parser.add_argument("--attention-backend", choices=["fa", "fi"], default="fa")
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--disable-cuda-graph", action="store_true")
    parser.parse_args()
    uvicorn.run(app)

from fastapi import FastAPI

app = FastAPI()


@app.post("/v1/completions")
def completions():
    pass


def get():
    pass

from fastapi import FastAPI

app = FastAPI()


@app.post("/generate")
async def generate(request: dict):
    return {"text": request["text"]}

import torch


class Runner:
    def __init__(self, model):
        self.model = model
        self.stream = torch.cuda.Stream()

    def run_prefill(self, tokens):
        with torch.cuda.stream(self.stream):
            return self.model(tokens)

    def run_decode(self, token):
        with torch.cuda.stream(self.stream):
            return self.model(token)

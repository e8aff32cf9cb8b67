from engine.config import Config
from engine.model_runner import ModelRunner
from engine.scheduler import Scheduler


class LLM:
    def __init__(self, model, **settings):
        self.config = Config(model, **settings)
        self.scheduler = Scheduler(self.config)
        self.runner = ModelRunner(self.config, model)

    def step(self):
        seqs = self.scheduler.schedule()
        return self.runner.run(seqs, False, self.config.enforce_eager)

    def generate(self, prompts):
        for prompt in prompts:
            self.scheduler.add(prompt)
        while self.scheduler.waiting or self.scheduler.running:
            self.step()

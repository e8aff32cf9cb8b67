from engine.llm import LLM

from engine import LLM


def main():
    llm = LLM("small", enforce_eager=False)
    llm.generate(["hello"] * 256)


if __name__ == "__main__":
    main()

from dataclasses import dataclass, field

DEFAULT_PAGES = 64


@dataclass
class EngineConfig:
    model_path: str
    page_size: int = 16  # tokens in a page
    num_pages: int = DEFAULT_PAGES
    backends: list = field(default_factory=lambda: ["auto"])


@dataclass
class ServerConfig(EngineConfig):
    port: int = 8000
    page_size: int = 32


class NotSettings:
    page_size = 7

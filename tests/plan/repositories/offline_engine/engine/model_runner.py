import torch

from engine.attention import store_kvcache


class ModelRunner:
    def __init__(self, config, model):
        self.model = model
        self.kv_cache = torch.empty(2, 4096, config.kvcache_block_size, 8, 128, device="cuda")
        self.block_tables = torch.zeros(config.max_num_seqs, 64, dtype=torch.int32, device="cuda")
        if not config.enforce_eager:
            self.capture_cudagraph()

    def capture_cudagraph(self):
        self.graph = torch.cuda.CUDAGraph()
        self.tokens = torch.zeros(64, dtype=torch.int64, device="cuda")
        with torch.cuda.graph(self.graph):
            self.logits = self.model(self.tokens)

    def run(self, seqs, is_prefill, enforce_eager):
        if is_prefill or enforce_eager:
            store_kvcache(self.kv_cache[0], self.kv_cache[1], self.block_tables)
            return self.model(seqs)
        self.graph.replay()
        return self.logits

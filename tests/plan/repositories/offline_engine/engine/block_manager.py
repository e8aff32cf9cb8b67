class BlockManager:
    def __init__(self, block_size):
        self.block_size = block_size
        self.hash_to_block_id = {}
        self.free_block_ids = list(range(4096))

    def allocate(self, seq):
        for start in range(0, len(seq.token_ids), self.block_size):
            key = hash(tuple(seq.token_ids[: start + self.block_size]))
            block = self.hash_to_block_id.get(key)
            if block is None:
                block = self.free_block_ids.pop()
                self.hash_to_block_id[key] = block
            else:
                seq.num_cached_tokens += self.block_size
            seq.block_table.append(block)

    def release(self, seq):
        seq.block_table.clear()

"""Small models with the shapes of real ones and random weights, so nothing has to be downloaded."""

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
        return (x.float() * scale).to(x.dtype) * self.weight


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.k_cache = self.v_cache = None

    def make_cache(self, batch, length):
        """Buffers, not arguments: CUDA graphs are not captured over mutated inputs."""
        del self.k_cache, self.v_cache
        shape = (batch, self.kv_heads, length, self.head_dim)
        self.register_buffer("k_cache", self.k.weight.new_zeros(shape))
        self.register_buffer("v_cache", self.k.weight.new_zeros(shape))

    def forward(self, x, cos, sin, pos, mask):
        b, s, _ = x.shape
        q = self.q(x).view(b, s, self.heads, self.head_dim).transpose(1, 2)
        k = self.k(x).view(b, s, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.v(x).view(b, s, self.kv_heads, self.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if self.k_cache is not None:
            k = self.k_cache.index_copy_(2, pos, k)
            v = self.v_cache.index_copy_(2, pos, v)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=mask is None, enable_gqa=self.heads != self.kv_heads
        )
        return self.o(y.transpose(1, 2).reshape(b, s, -1))


class MLP(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MoE(nn.Module):
    """Top-k routed experts, each run on the tokens sent to it: many small, uneven GEMMs."""

    def __init__(self, dim, hidden, experts, top_k):
        super().__init__()
        self.router = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(MLP(dim, hidden) for _ in range(experts))
        self.top_k = top_k

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weight, chosen = self.router(tokens).softmax(-1).topk(self.top_k, dim=-1)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            row, slot = (chosen == i).nonzero(as_tuple=True)
            out.index_add_(0, row, expert(tokens[row]) * weight[row, slot, None])
        return out.view_as(x)


class Block(nn.Module):
    def __init__(self, dim, heads, kv_heads, ffn):
        super().__init__()
        self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)
        self.attention, self.ffn = Attention(dim, heads, kv_heads), ffn

    def forward(self, x, *state):
        x = x + self.attention(self.attention_norm(x), *state)
        return x + self.ffn(self.ffn_norm(x))


class Llama(nn.Module):
    def __init__(self, layers=8, dim=2048, heads=16, kv_heads=4, hidden=5632, vocab=32000, make_ffn=None):
        super().__init__()
        make_ffn = make_ffn or (lambda: MLP(dim, hidden))
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, kv_heads, make_ffn()) for _ in range(layers))
        self.norm = RMSNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head_dim = dim // heads

    def make_cache(self, batch, length):
        for block in self.blocks:
            block.attention.make_cache(batch, length)

    def forward(self, tokens, pos, mask=None):
        inv = 10000 ** (-torch.arange(0, self.head_dim, 2, device=tokens.device) / self.head_dim)
        angle = pos[:, None] * inv[None, :]
        x = self.embed(tokens)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        for block in self.blocks:
            x = block(x, cos, sin, pos, mask)
        return self.head(self.norm(x[:, -1:] if mask is not None else x))

"""Models of the training program, by size: a small one for CPUs, GPT-2 and BERT for benchmarks.

Plain encoder stacks of the published sizes on synthetic tokens: they measure a cluster and learn no language.
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, kw_only=True)
class Size:
    """Shape of a model.

    Args:
        layers: Encoder layers.
        width: Width of the residual stream.
        heads: Attention heads.
        vocabulary: Tokens.
        length: Tokens of one sequence.
        batch: Sequences of one process in one step.
        causal: Each token sees only those before it.
        dtype: Type of the computation on GPUs.
    """

    layers: int
    width: int
    heads: int
    vocabulary: int
    length: int
    batch: int
    causal: bool
    dtype: torch.dtype = torch.bfloat16


SIZES = {
    "tiny": Size(layers=1, width=32, heads=2, vocabulary=64, length=16, batch=8, causal=True),
    # 124 M parameters; "Language Models are Unsupervised Multitask Learners", table 2. Vocabulary padded.
    "gpt2": Size(layers=12, width=768, heads=12, vocabulary=50304, length=1024, batch=16, causal=True),
    # BERT-base, 110 M parameters; arXiv 1810.04805, section 3. Vocabulary padded.
    "bert": Size(layers=12, width=768, heads=12, vocabulary=30528, length=512, batch=32, causal=False),
}


class Encoder(nn.Module):  # type: ignore[misc] # the checker has no types of torch
    """Embedding, encoder layers, projection to the vocabulary."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.places = nn.Embedding(size.length, size.width)
        layer = nn.TransformerEncoderLayer(
            size.width, size.heads, 4 * size.width, dropout=0.0, activation="gelu", batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, size.layers)
        self.head = nn.Linear(size.width, size.vocabulary)
        mask = torch.full((size.length, size.length), float("-inf")).triu(1)
        self.register_buffer("mask", mask if size.causal else None, persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of every token of the vocabulary at every place."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.layers(self.tokens(tokens) + self.places(places), self.mask))


def sequences(size: Size, *, seed: int, step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens and what to say at each place; the same for the same step, as a resumed run sees the same data.

    The answer is the token before, which every model here can learn.
    """
    generator = torch.Generator().manual_seed(hash((seed, step, rank)) % 2**31)
    tokens = torch.randint(size.vocabulary, (size.batch, size.length), generator=generator)
    return tokens, tokens.roll(1, dims=1)

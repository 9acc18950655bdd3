"""Scaled dot product attention as one operation of ours.

PyTorch lowers it to one of five forms by device, type and strides before a backend sees it. Rewriting the call in
Dynamo's graph keeps it whole, so that graphs captured on a CPU and on a GPU are the same.
"""

import torch


@torch.library.custom_op("megakittens::scaled_dot_product_attention", mutates_args=())
def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    ).contiguous()


@scaled_dot_product_attention.register_fake
def _(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    batch = torch.broadcast_shapes(query.shape[:-3], key.shape[:-3]) if query.dim() > 3 else query.shape[:-3]
    return query.new_empty((*batch, *query.shape[-3:-1], value.shape[-1]))


def keep_attention(gm):
    """Replaces PyTorch's attention calls in Dynamo's graph by ours."""
    theirs = torch.nn.functional.scaled_dot_product_attention
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target in (theirs, torch._C._nn.scaled_dot_product_attention):
            node.target = torch.ops.megakittens.scaled_dot_product_attention.default
    gm.recompile()

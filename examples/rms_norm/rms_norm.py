"""An instruction type of one's own from Python: the operation, its host half, its test, and a function that uses it.

Runs where there is a GPU on it, and elsewhere on the emulator: python examples/rms_norm/rms_norm.py
"""

import torch

import megakittens


@torch.library.custom_op("megakittens_example::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + epsilon)
    return (x * scale * weight).to(x.dtype)


@rms_norm.register_fake
def _(x, weight, epsilon=1e-6):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@megakittens.register
class RmsNorm(megakittens.InstructionType):
    name = "rms_norm"
    operation = rms_norm
    device = "rms_norm.cuh"
    takes_epilogue = True

    def unsuited(self, call):
        x, weight, y = call.operands
        if weight.sizes != (1, 1, 1, x.sizes[3]):
            return "weight is no vector with an element for each column of x"
        if any(operand.dtype not in ("bf16", "f16", "f32") for operand in call.operands):
            return "it takes bf16, f16 and f32"

    def plan(self, call):
        outer0, outer1, rows, columns = call.operands[0].sizes
        step = 32  # four rows for each consumer warp, as long as every multiprocessor has work
        while step > 8 and outer0 * outer1 * rows // step < call.sms:
            step //= 2
        tiles = [
            [i, j, row, min(step, rows - row), columns]
            for i in range(outer0)
            for j in range(outer1)
            for row in range(0, rows, step)
        ]
        elements = outer0 * outer1 * rows * columns
        return megakittens.Plan(tiles, constants=[call.arguments["epsilon"]], bytes=4 * elements, operations=4 * elements)

    def touches(self, operands, index):
        i, j, row, rows, columns = index
        block = (i, j, row, 0), (i + 1, j + 1, row + rows, columns)
        return [(0, *block), (1, (0, 0, 0, 0), (1, 1, 1, columns)), (2, *block)]

    def examples(self):
        def call(dtype, *shape, **others):
            return [torch.empty(shape, dtype=dtype), torch.empty(shape[-1], dtype=dtype), *others.values()]

        return [
            call(torch.bfloat16, 37, 256, epsilon=1e-5),
            call(torch.bfloat16, 3, 5, 100),  # rows that are no multiple of 16 bytes
            call(torch.float16, 2, 2, 9, 1000),  # more than one chunk of columns
            call(torch.float32, 40, 24, epsilon=0.5),
        ]


@megakittens.compile
def block(x, weight, W):
    return torch.relu(rms_norm(x, weight) @ W)


def main():
    programs, launches = RmsNorm.test()
    print(f"rms_norm is right in {programs} programs, {launches} launches under the checker")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, W = torch.randn(64, 256, device=device).bfloat16(), torch.randn(256, 128, device=device).bfloat16() / 16
    weight = torch.rand(256, device=device).bfloat16()
    y = block(x, weight, W)
    want = torch.relu(rms_norm(x, weight) @ W)
    print(block.explain())
    print(f"on {device}: largest difference {(y.float() - want.float()).abs().max().item():.3g}")


if __name__ == "__main__":
    main()

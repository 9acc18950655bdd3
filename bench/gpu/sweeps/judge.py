"""Whether a result is right: its errors against a reference of more bits, beside those of eager PyTorch."""

import torch

ALLOWED = 1.1  # times eager's error
TINY = 4  # units of rounding: below, one unit at one element is allowed beside


def errors(result, reference, keep):
    """(root of the mean square, largest), by the reference's root mean square, of the elements in `keep`."""
    scale = reference[keep].pow(2).mean().sqrt().item() or 1.0
    difference = (result.to(reference.dtype) - reference)[keep]
    return difference.pow(2).mean().sqrt().item() / scale, difference.abs().max().item() / scale


def unit(reference, keep, dtype):
    """What rounding the largest element to `dtype` may change, by the reference's root mean square."""
    scale = reference[keep].pow(2).mean().sqrt().item() or 1.0
    return torch.finfo(dtype).eps / 2 * reference[keep].abs().max().item() / scale


def allowed(theirs, step):
    """The largest error that is right where eager's is `theirs`."""
    return ALLOWED * theirs + (step if theirs <= TINY * step else 0.0)


def faults(ours, eager, reference, exact):
    """(sentences, figures): what is wrong with `ours`, nothing where it is right; and the errors of both."""
    if (ours.dtype, ours.shape) != (eager.dtype, eager.shape):
        return [f"is {ours.dtype}{list(ours.shape)}, eager's {eager.dtype}{list(eager.shape)}"], {}
    if exact or not eager.is_floating_point():
        same = (ours == eager) | ((ours != ours) & (eager != eager))
        count = int((~same).sum())
        return [f"{count} of {ours.numel()} elements differ from eager's"] if count else [], {"different": count}
    keep = eager.isfinite() & reference.isfinite()
    lost = int((keep & ~ours.isfinite()).sum())
    if lost:
        return [f"{lost} of {ours.numel()} elements are not finite, and eager's are"], {"not_finite": lost}
    if not bool(keep.any()):
        return [], {"compared": 0}
    (rms, largest), (eager_rms, eager_largest) = errors(ours, reference, keep), errors(eager, reference, keep)
    step = unit(reference, keep, eager.dtype)
    found = []
    if not largest <= allowed(eager_largest, step):
        found.append(f"largest error {largest:.3g}, eager's {eager_largest:.3g}")
    # Sixteen bits are rounded from fp32 on both sides, and differ at few elements; functions in fp32 may differ everywhere.
    everywhere = 1 if eager.dtype is torch.float32 else int(keep.sum())
    if not rms <= allowed(eager_rms, step / everywhere**0.5):
        found.append(f"root mean square error {rms:.3g}, eager's {eager_rms:.3g}")
    return found, {"rms": rms, "largest": largest, "eager_rms": eager_rms, "eager_largest": eager_largest}

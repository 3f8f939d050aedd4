"""How far the choice of experts is from another one.

The choice of the likeliest experts is discontinuous. Where the last chosen expert is hardly likelier than the next one, 16 bits may
rightly choose the other, and the recorded noise would be that of another path through the model. Margins are therefore measured in
units of the change that bf16 causes in the routers' logits.
"""

import torch

from reference import results

# In units of bf16's change: at 0.6, 16 bits were observed to choose other experts.
CLOSE = 2.5


def smallest_margin(exact, rounded, case, chosen):
    """The smallest gap between the logits of the last chosen and the next expert over layers and tokens of a case, in units of the change
    (RMS) from the model `exact` to `rounded`; infinite for a model without routers."""
    pairs = zip(router_logits(exact, case), router_logits(rounded, case), strict=True)
    return min((margin(*pair, chosen) for pair in pairs), default=float("inf"))


def router_logits(model, case):
    """The logits of every router, up to a constant that all experts share."""
    routers = {}
    with torch.no_grad(), results.watched_routers(model, case, routers):
        model(**case)
    return [routers[name].float().log() for name in sorted(routers) if name.startswith("router.")]


def margin(exact, rounded, chosen):
    """Like `smallest_margin`, for one router."""
    if chosen >= exact.shape[-1]:
        return float("inf")
    ordered = exact.sort(-1, descending=True).values
    change = exact - rounded
    change = change - change.mean(-1, keepdim=True)
    return float((ordered[..., chosen - 1] - ordered[..., chosen]).min() / change.pow(2).mean().sqrt())

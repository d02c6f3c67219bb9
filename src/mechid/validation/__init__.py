"""How far a model can be trusted: errors of predicted forces, on motions used and not used."""

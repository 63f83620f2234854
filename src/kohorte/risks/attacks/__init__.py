"""Attacks that run on a table and say how many people they hurt."""

from kohorte.risks.attacks.attack import Attack, Attacks, SkippedAttack
from kohorte.risks.attacks.background_knowledge import background_knowledge_attack
from kohorte.risks.attacks.complementary_release import complementary_release_attack
from kohorte.risks.attacks.homogeneity import homogeneity_attack
from kohorte.risks.attacks.knowledge import Knowledge, read_knowledge
from kohorte.risks.attacks.linkage import linkage_attack
from kohorte.risks.attacks.run import NEEDS, run_attacks
from kohorte.risks.attacks.similarity import similarity_attack
from kohorte.risks.attacks.skewness import skewness_attack
from kohorte.risks.attacks.unsorted_matching import unsorted_matching_attack

__all__ = [
    "NEEDS",
    "Attack",
    "Attacks",
    "Knowledge",
    "SkippedAttack",
    "background_knowledge_attack",
    "complementary_release_attack",
    "homogeneity_attack",
    "linkage_attack",
    "read_knowledge",
    "run_attacks",
    "similarity_attack",
    "skewness_attack",
    "unsorted_matching_attack",
]

"""Attacks that are run on a table, with the number of people harmed."""

from kohorte.attacks.attack import Attack, Attacks, SkippedAttack
from kohorte.attacks.background_knowledge import background_knowledge_attack
from kohorte.attacks.complementary_release import complementary_release_attack
from kohorte.attacks.homogeneity import homogeneity_attack
from kohorte.attacks.knowledge import Knowledge, read_knowledge
from kohorte.attacks.linkage import linkage_attack
from kohorte.attacks.rows_of_one_person import rows_of_one_person_attack
from kohorte.attacks.run import NEEDS, run_attacks
from kohorte.attacks.similarity import similarity_attack
from kohorte.attacks.skewness import skewness_attack
from kohorte.attacks.unsorted_matching import unsorted_matching_attack

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
    "rows_of_one_person_attack",
    "run_attacks",
    "similarity_attack",
    "skewness_attack",
    "unsorted_matching_attack",
]

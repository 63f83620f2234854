"""The risk of a survey over the number of people, as curves and as a picture."""

from kohorte.survey.picture.curves import RiskCurves, risk_over_people
from kohorte.survey.picture.write import refuse_plot, write_plot

__all__ = ["RiskCurves", "refuse_plot", "risk_over_people", "write_plot"]

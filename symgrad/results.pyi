"""The classes that answers are of, a line for each, with the module that has it; `results.py` looks them up here."""

from symgrad.api.claims.check_domain import DomainCheck as DomainCheck
from symgrad.api.derivatives.derivative_table import DerivativeList as DerivativeList
from symgrad.api.derivatives.effective import Effective as Effective
from symgrad.api.derivatives.implicit_function import Implicit as Implicit
from symgrad.api.derivatives.partials import Derivatives as Derivatives
from symgrad.api.derivatives.row_gradient import RowGradient as RowGradient
from symgrad.api.explaining.explain import Derivation as Derivation
from symgrad.api.functions.from_latex import LatexReading as LatexReading
from symgrad.api.kernels.over_data import OverData as OverData
from symgrad.api.noise.audit import Audit as Audit
from symgrad.api.noise.estimators import Comparison as Comparison
from symgrad.api.noise.lint import Findings as Findings
from symgrad.api.noise.placement import Placement as Placement
from symgrad.api.training.minimize import Minimum as Minimum
from symgrad.api.training.train import Training as Training
from symgrad.apps.gradcheck.record import CodeVerdict as CodeVerdict
from symgrad.apps.review.review import Review as Review
from symgrad.compiler.gpu.launch.cuda_kernel import CudaKernel as CudaKernel
from symgrad.compiler.loader.arrays import LoadedArrayKernel as LoadedArrayKernel
from symgrad.compiler.loader.elementwise import LoadedKernel as LoadedKernel
from symgrad.interop.importers.program import ImportedProgram as ImportedProgram
from symgrad.printing.pictures.interactive import Graph as Graph
from symgrad.report.report import Report as Report

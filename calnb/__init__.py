"""Calibration of multi-class probabilities: exact, fast, and explained in the notebooks this package is exported from."""

__version__ = "0.1.0"

from .simplex import (
    CORNERS, FLOOR, LOWEST_LOG, SUM_TOLERANCE, as_columns, as_floats, as_labels, check_labels, check_logits,
    check_probs, check_weights, logits_to_logp, normalize, one_hot, safe_log, to_plane)
from .data import (
    bend_ratios, Bent, bent, calibrated_logits, dirichlet_problem, dirichlet_scores, DirichletScores, draw_labels,
    Overconfident, overconfident)
from .base import as_view, Calibrator, check_calibrator, Identity, progress
from .bins import (
    bin_index, binary_bins, BinStats, classwise_bins, classwise_quantile_edges, confidence_bins, quantile_edges,
    uniform_edges)
from .outputs import load_outputs, Outputs
from .metrics import (
    brier_score, brier_scorer, class_ece, classwise_ece, classwise_ece_scorer, confidence_ece,
    confidence_ece_scorer, ece_of_bins, log_loss, log_loss_scorer, maximum_calibration_error, mce_of_bins,
    score_decomposition, ScoreDecomposition, Scorer, thresholded_ece)
from .diagrams import (
    GAP_COLOR, IDENTITY_COLOR, MAP_COLOR, classwise_curves, confidence_curve, consistency_band, map_arrows,
    observed_arrows, plot_arrows, plot_before_after, plot_counts, plot_map, plot_reliability, plot_simplex,
    reliability_curves, ReliabilityCurve, ReliabilityDisplay, simplex_grid, worst_curves)
from .softreg import (
    cautious_step, ClassBlocks, conjugate_gradient, diagonal_regression, hessian_product, loss_and_probs,
    loss_gradient, minimise, penalty_weights, settle, shrunken_regression, ShrunkenFit, softmax_regression,
    SoftmaxFit)
from .scaling import (
    best_beta, default_grid, kull2019_grid, matrix_penalty, MatrixScaling, MatrixScalingCV, path_losses,
    stable_folds, TemperatureScaling, VectorScaling)
from .ovr import BinaryMap, class_score, fit_maps, OneVsRest, Unchanged
from .beta import beta_features, BetaCalibration, fit_slopes, half_point, overlap, platt_targets, PlattScaling
from .histogram import (
    bin_sums, bin_values, histogram_edges, HistogramBinning, HistogramBinningCV, leave_one_out_loss, round_scores,
    set_top, TopLabelBinning)
from .isotonic import FIR, FlatGroups, flatten_groups, IsotonicCalibration, pool_adjacent_violators
from .bivariate import bivariate_blocks, bivariate_isotonic, compiled, sorted_points
from .scir import (
    blend_weight, fit_surface, fold_weights, rank_sums, rank_targets, SCIR, SmoothedSCIR, surface_at,
    surface_probabilities)
from .comparison import (
    check_both_labels, check_free, compare, compare_outputs, Comparison, default_calibrators, digits_outputs,
    html_table, make_table, measure, name_calibrators, plot_curves, rank_columns, report_html, save_report,
    table_cells, text_table, write_whole)

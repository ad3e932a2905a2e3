"""Calibration of multi-class probabilities: exact, fast, and explained in the notebooks this package is exported from.

Examples
--------
>>> from calnb import AutoCalibration, TemperatureScaling, log_loss, overconfident
>>> P, y = overconfident(1000, 4, T=3.0)             # a model whose logits are three times too large
>>> calibrator = TemperatureScaling().fit(P[:500], y[:500])
>>> 2.5 < calibrator.temperature_ < 3.5
True
>>> better = AutoCalibration().fit(P[:500], y[:500]).predict_proba(P[500:])
>>> better.shape
(500, 4)
>>> bool(log_loss(y[500:], better) < log_loss(y[500:], P[500:]))
True
"""

__version__ = "0.1.0"

from .simplex import (
    CORNERS, FLOOR, LOWEST_LOG, SUM_TOLERANCE, as_columns, as_floats, as_labels, check_forecasts, check_labels,
    check_logits, check_probs, check_weights, frame_classes, logits_to_logp, normalize, one_hot, safe_log, to_plane)
from .data import (
    bend_ratios, Bent, bent, calibrated_logits, dirichlet_problem, dirichlet_scores, DirichletScores, draw_labels,
    Overconfident, overconfident)
from .base import (
    KINDS, SCHEMA, as_view, Calibrator, check_calibrator, check_kind, check_settings, Identity, progress, row_blocks)
from .bins import (
    bin_index, binary_bins, BinStats, classwise_bins, classwise_quantile_edges, confidence_bins, quantile_edges,
    uniform_edges)
from .outputs import load_outputs, load_parts, map_table, Outputs, Part
from .folds import fold_splits, fold_weights, possible_folds, row_kinds
from .metrics import (
    brier_score, brier_scorer, class_ece, classwise_ece, classwise_ece_scorer, classwise_stats, confidence_ece,
    confidence_ece_scorer, confidence_stats, ece_of_bins, is_kull2019, log_loss, log_loss_scorer,
    maximum_calibration_error, mce_of_bins, score_decomposition, ScoreDecomposition, Scorer,
    squared_classwise_error, squared_confidence_error, squared_error_of_bins, thresholded_ece)
from .significance import (
    bootstrap_interval, bootstrap_intervals, BootstrapInterval, consistency_test, ConsistencyTest, plot_null)
from .diagrams import (
    GAP_COLOR, IDENTITY_COLOR, LINE_COLORS, MAP_COLOR, classwise_curves, confidence_curve, consistency_band,
    map_arrows, observed_arrows, plot_arrows, plot_before_after, plot_counts, plot_map, plot_models,
    plot_reliability, plot_simplex, reliability_curves, ReliabilityCurve, ReliabilityDisplay, simplex_grid,
    worst_curves)
from .softreg import (
    bounded, cautious_step, ClassBlocks, conjugate_gradient, diagonal_regression, hessian_product, loss_and_probs,
    loss_gradient, loss_of_scores, minimise, pair_product, PairBlocks, penalty_weights, settle, shrunken_regression,
    ShrunkenFit, softmax_regression, SoftmaxFit, warn_if_cut)
from .scaling import (
    best_beta, default_grid, kull2019_grid, matrix_penalty, MatrixScaling, MatrixScalingCV, path_losses,
    TemperatureScaling, VectorScaling)
from .dirichlet import (
    confusion_change, dirichlet_mle, DirichletCalibration, DirichletCalibrationCV, fit_generative, from_canonical,
    from_generative, interpretation_points, inverse_psi, log_beta, plot_canonical, plot_confusion_change,
    to_canonical, to_generative)
from .ovr import BinaryMap, class_score, fit_maps, OneVsRest, Unchanged
from .beta import beta_features, BetaCalibration, fit_slopes, half_point, overlap, platt_targets, PlattScaling
from .histogram import (
    bin_sums, bin_values, histogram_edges, HistogramBinning, HistogramBinningCV, leave_one_out_loss, round_scores,
    set_top, TopLabelBinning)
from .isotonic import FIR, FlatGroups, flatten_groups, IsotonicCalibration, pool_adjacent_violators
from .na_fir import (
    anneal, keeps_order, kkt_violation, log_linear, minimize_loss, NAFIR, NAFIRAnnealing, NormalizedLoss,
    permutation_invariant, relaxes_independence, split_blocks)
from .bivariate import bivariate_blocks, bivariate_isotonic, compiled, sorted_points
from .scir import (
    blend_weight, fit_surface, rank_sums, rank_targets, SCIR, SmoothedSCIR, surface_at, surface_probabilities)
from .chain import Chain, Composite, fit_parts, name_items, pass_on
from .mixture import (
    auto_maps, AutoCalibration, bend_confidence, confidence_slope, fit_held_out, flat_steps, grow_tree, MapTree,
    Mixture, mixture_weights, tree_output, weigh, Weighing, WeightsFit)
from .classifier import (
    average_folds, CalibratedClassifier, check_parts, classifier_outputs, cross_fit, fill_columns, fit_calibrator,
    fit_fold, fit_given, fit_rows, FittedPair, fold_parts, shared_folds, weight_argument)
from .comparison import (
    INTERVALS, P_VALUES, check_both_labels, check_free, compare, compare_classifier, compare_outputs, Comparison,
    default_calibrators, digits_outputs, html_table, interval_cells, interval_ends, make_table, may_be_best,
    measure, name_calibrators, p_values, plot_curves, rank_columns, report_html, save_report, table_cells,
    text_table, write_whole)
from .large import predict_in_chunks
from .ranks import (
    average_ranks, block_ranks, check_scores, critical_difference, friedman_test, FriedmanResult, holm,
    plot_critical_difference, plot_wins, rank_diagram, rank_groups, RankDiagram, sign_test, stack_bars, win_matrix)
from .benchmark import (
    MEASURES, UCI_NAMES, add_outputs_arguments, add_run_arguments, add_uci_arguments, all_columns, average_map,
    bench_measures, bench_outputs, bench_text, block_scores, bundled_tables, Cell, check_names, check_plan, compact,
    described, DirichletOnTraining, fetch_table, fold_numbers, kept_scores, kull2019_calibrators, load_scores,
    load_uci, make_scores, name_seed, on_cluster, OnTraining, outputs_scores, pick, rank_table, read_cells,
    read_store, row_limits, run_bench_outputs, run_bench_uci, run_benchmark, run_cell, run_job, run_jobs,
    run_seconds, Scores, store_whole, subsample, uci_calibrators, uci_classifiers)

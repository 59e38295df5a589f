// Optimizers' update rules.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kTrainingOps[] = {
    {"ApplyAdaMax",
     "var: Ref(T); m: Ref(T); v: Ref(T); beta1_power: T; lr: T; beta1: T; beta2: T; epsilon: T; "
     "grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v v 0 0 0 0 0 v -> v">},
    {"ApplyAdadelta",
     "var: Ref(T); accum: Ref(T); accum_update: Ref(T); lr: T; rho: T; epsilon: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v v 0 0 0 v -> v">},
    {"ApplyAdagrad", "var: Ref(T); accum: Ref(T); lr: T; grad: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true",
     RankRule<"v v 0 v -> v">},
    {"ApplyAdagradDA",
     "var: Ref(T); gradient_accumulator: Ref(T); gradient_squared_accumulator: Ref(T); grad: T; "
     "lr: T; l1: T; l2: T; global_step: int64",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v v v 0 0 0 0 -> v">},
    {"ApplyAdagradV2", "var: Ref(T); accum: Ref(T); lr: T; epsilon: T; grad: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true",
     RankRule<"v v 0 0 v -> v">},
    {"ApplyAdam",
     "var: Ref(T); m: Ref(T); v: Ref(T); beta1_power: T; beta2_power: T; lr: T; beta1: T; "
     "beta2: T; epsilon: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false; use_nesterov: bool = false",
     RankRule<"v v v 0 0 0 0 0 0 v -> v">},
    {"ApplyAddSign", "var: Ref(T); m: Ref(T); lr: T; alpha: T; sign_decay: T; beta: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v 0 0 0 0 v -> v">},
    {"ApplyCenteredRMSProp",
     "var: Ref(T); mg: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; "
     "grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v v v 0 0 0 0 v -> v">},
    {"ApplyFtrl",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; lr: T; l1: T; l2: T; lr_power: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     RankRule<"v v v v 0 0 0 0 -> v">},
    {"ApplyFtrlV2",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; lr: T; l1: T; l2: T; l2_shrinkage: T; "
     "lr_power: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     RankRule<"v v v v 0 0 0 0 -> v">},
    {"ApplyGradientDescent", "var: Ref(T); alpha: T; delta: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false", RankRule<"v 0 v -> v">},
    {"ApplyMomentum", "var: Ref(T); accum: Ref(T); lr: T; grad: T; momentum: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false; use_nesterov: bool = false",
     RankRule<"v v 0 v 0 -> v">},
    {"ApplyPowerSign", "var: Ref(T); m: Ref(T); lr: T; logbase: T; sign_decay: T; beta: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v 0 0 0 0 v -> v">},
    {"ApplyProximalAdagrad", "var: Ref(T); accum: Ref(T); lr: T; l1: T; l2: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v 0 0 0 v -> v">},
    {"ApplyProximalGradientDescent", "var: Ref(T); alpha: T; l1: T; l2: T; delta: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false", RankRule<"v 0 0 0 v -> v">},
    {"ApplyRMSProp",
     "var: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", RankRule<"v v v 0 0 0 0 v -> v">},
    {"ResourceApplyAdaMax",
     "var: resource; m: resource; v: resource; beta1_power: T; lr: T; beta1: T; beta2: T; "
     "epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v v 0 0 0 0 0 ->">, kStateful},
    {"ResourceApplyAdadelta",
     "var: resource; accum: resource; accum_update: resource; lr: T; rho: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v v 0 0 0 ->">, kStateful},
    {"ResourceApplyAdagrad", "var: resource; accum: resource; lr: T; grad: T", "",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true", RankRule<"v v 0 ->">,
     kStateful},
    {"ResourceApplyAdagradDA",
     "var: resource; gradient_accumulator: resource; gradient_squared_accumulator: resource; "
     "grad: T; lr: T; l1: T; l2: T; global_step: int64",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v v * 0 0 0 0 ->">, kStateful},
    {"ResourceApplyAdagradV2", "var: resource; accum: resource; lr: T; epsilon: T; grad: T", "",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true", RankRule<"v v 0 0 ->">,
     kStateful},
    {"ResourceApplyAdam",
     "var: resource; m: resource; v: resource; beta1_power: T; beta2_power: T; lr: T; beta1: T; "
     "beta2: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false; use_nesterov: bool = false",
     RankRule<"v v v 0 0 0 0 0 0 ->">, kStateful},
    {"ResourceApplyAdamWithAmsgrad",
     "var: resource; m: resource; v: resource; vhat: resource; beta1_power: T; beta2_power: T; "
     "lr: T; beta1: T; beta2: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v v v 0 0 0 0 0 0 ->">, kStateful},
    {"ResourceApplyAddSign",
     "var: resource; m: resource; lr: T; alpha: T; sign_decay: T; beta: T; grad: T", "",
     "T: numbertype; use_locking: bool = false", RankRule<"v v 0 0 0 0 ->">, kStateful},
    {"ResourceApplyCenteredRMSProp",
     "var: resource; mg: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; "
     "epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v v v 0 0 0 0 ->">, kStateful},
    {"ResourceApplyFtrl",
     "var: resource; accum: resource; linear: resource; grad: T; lr: T; l1: T; l2: T; lr_power: T",
     "", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     RankRule<"v v v * 0 0 0 0 ->">, kStateful},
    {"ResourceApplyFtrlV2",
     "var: resource; accum: resource; linear: resource; grad: T; lr: T; l1: T; l2: T; "
     "l2_shrinkage: T; lr_power: T",
     "", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     RankRule<"v v v * 0 0 0 0 ->">, kStateful},
    {"ResourceApplyGradientDescent", "var: resource; alpha: T; delta: T", "",
     "T: numbertype; use_locking: bool = false", RankRule<"v 0 v ->">, kStateful},
    {"ResourceApplyKerasMomentum", "var: resource; accum: resource; lr: T; grad: T; momentum: T",
     "", "T: numbertype; use_locking: bool = false; use_nesterov: bool = false",
     RankRule<"v v 0 * 0 ->">, kStateful},
    {"ResourceApplyMomentum", "var: resource; accum: resource; lr: T; grad: T; momentum: T", "",
     "T: numbertype; use_locking: bool = false; use_nesterov: bool = false",
     RankRule<"v v 0 * 0 ->">, kStateful},
    {"ResourceApplyPowerSign",
     "var: resource; m: resource; lr: T; logbase: T; sign_decay: T; beta: T; grad: T", "",
     "T: numbertype; use_locking: bool = false", RankRule<"v v 0 0 0 0 ->">, kStateful},
    {"ResourceApplyProximalAdagrad", "var: resource; accum: resource; lr: T; l1: T; l2: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v 0 0 0 v ->">, kStateful},
    {"ResourceApplyProximalGradientDescent", "var: resource; alpha: T; l1: T; l2: T; delta: T", "",
     "T: numbertype; use_locking: bool = false", RankRule<"v 0 0 0 ->">, kStateful},
    {"ResourceApplyRMSProp",
     "var: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", RankRule<"v v v 0 0 0 0 ->">, kStateful},
    {"ResourceSparseApplyAdadelta",
     "var: resource; accum: resource; accum_update: resource; lr: T; rho: T; epsilon: T; grad: T; "
     "indices: Tindices",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v 0 0 0 * 1 ->">, kStateful},
    {"ResourceSparseApplyAdagrad",
     "var: resource; accum: resource; lr: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     RankRule<"v v 0 * 1 ->">, kStateful},
    {"ResourceSparseApplyAdagradDA",
     "var: resource; gradient_accumulator: resource; gradient_squared_accumulator: resource; "
     "grad: T; indices: Tindices; lr: T; l1: T; l2: T; global_step: int64",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v * 1 0 0 0 0 ->">, kStateful},
    {"ResourceSparseApplyAdagradV2",
     "var: resource; accum: resource; lr: T; epsilon: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     RankRule<"v v 0 0 * 1 ->">, kStateful},
    {"ResourceSparseApplyCenteredRMSProp",
     "var: resource; mg: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; "
     "epsilon: T; grad: T; indices: Tindices",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v v 0 0 0 0 * 1 ->">, kStateful},
    {"ResourceSparseApplyFtrl",
     "var: resource; accum: resource; linear: resource; grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; lr_power: T",
     "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     RankRule<"v v v * 1 0 0 0 0 ->">, kStateful},
    {"ResourceSparseApplyFtrlV2",
     "var: resource; accum: resource; linear: resource; grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; l2_shrinkage: T; lr_power: T",
     "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     RankRule<"v v v * 1 0 0 0 0 ->">, kStateful},
    {"ResourceSparseApplyKerasMomentum",
     "var: resource; accum: resource; lr: T; grad: T; indices: Tindices; momentum: T", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "use_nesterov: bool = false",
     RankRule<"v v 0 * 1 0 ->">, kStateful},
    {"ResourceSparseApplyMomentum",
     "var: resource; accum: resource; lr: T; grad: T; indices: Tindices; momentum: T", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "use_nesterov: bool = false",
     RankRule<"v v 0 * 1 0 ->">, kStateful},
    {"ResourceSparseApplyProximalAdagrad",
     "var: resource; accum: resource; lr: T; l1: T; l2: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v 0 0 0 * 1 ->">, kStateful},
    {"ResourceSparseApplyProximalGradientDescent",
     "var: resource; alpha: T; l1: T; l2: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v 0 0 0 * 1 ->">, kStateful},
    {"ResourceSparseApplyRMSProp",
     "var: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; epsilon: T; "
     "grad: T; indices: Tindices",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v 0 0 0 0 * 1 ->">, kStateful},
    {"SparseApplyAdadelta",
     "var: Ref(T); accum: Ref(T); accum_update: Ref(T); lr: T; rho: T; epsilon: T; grad: T; "
     "indices: Tindices",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v 0 0 0 r 1 -> v">},
    {"SparseApplyAdagrad", "var: Ref(T); accum: Ref(T); lr: T; grad: T; indices: Tindices",
     "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     RankRule<"v v 0 r 1 -> v">},
    {"SparseApplyAdagradDA",
     "var: Ref(T); gradient_accumulator: Ref(T); gradient_squared_accumulator: Ref(T); grad: T; "
     "indices: Tindices; lr: T; l1: T; l2: T; global_step: int64",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v r 1 0 0 0 0 -> v">},
    {"SparseApplyAdagradV2",
     "var: Ref(T); accum: Ref(T); lr: T; epsilon: T; grad: T; indices: Tindices", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     RankRule<"v v 0 0 r 1 -> v">},
    {"SparseApplyCenteredRMSProp",
     "var: Ref(T); mg: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; "
     "grad: T; indices: Tindices",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v v 0 0 0 0 r 1 -> v">},
    {"SparseApplyFtrl",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; lr_power: T",
     "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     RankRule<"v v v r 1 0 0 0 0 -> v">},
    {"SparseApplyFtrlV2",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; l2_shrinkage: T; lr_power: T",
     "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     RankRule<"v v v r 1 0 0 0 0 -> v">},
    {"SparseApplyMomentum",
     "var: Ref(T); accum: Ref(T); lr: T; grad: T; indices: Tindices; momentum: T", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "use_nesterov: bool = false",
     RankRule<"v v 0 r 1 0 -> v">},
    {"SparseApplyProximalAdagrad",
     "var: Ref(T); accum: Ref(T); lr: T; l1: T; l2: T; grad: T; indices: Tindices", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v 0 0 0 r 1 -> v">},
    {"SparseApplyProximalGradientDescent",
     "var: Ref(T); alpha: T; l1: T; l2: T; grad: T; indices: Tindices", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v 0 0 0 r 1 -> v">},
    {"SparseApplyRMSProp",
     "var: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; grad: T; "
     "indices: Tindices",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     RankRule<"v v v 0 0 0 0 r 1 -> v">},
};

}  // namespace

absl::Span<const OpSpec> Training() { return kTrainingOps; }

}  // namespace tenon::ops

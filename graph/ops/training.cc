// Optimizers' update rules.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kTrainingOps[] = {
    {"ApplyAdaMax",
     "var: Ref(T); m: Ref(T); v: Ref(T); beta1_power: T; lr: T; beta1: T; beta2: T; epsilon: T; "
     "grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyAdadelta",
     "var: Ref(T); accum: Ref(T); accum_update: Ref(T); lr: T; rho: T; epsilon: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyAdagrad", "var: Ref(T); accum: Ref(T); lr: T; grad: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true", UnchangedShape},
    {"ApplyAdagradDA",
     "var: Ref(T); gradient_accumulator: Ref(T); gradient_squared_accumulator: Ref(T); grad: T; "
     "lr: T; l1: T; l2: T; global_step: int64",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyAdagradV2", "var: Ref(T); accum: Ref(T); lr: T; epsilon: T; grad: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true", UnchangedShape},
    {"ApplyAdam",
     "var: Ref(T); m: Ref(T); v: Ref(T); beta1_power: T; beta2_power: T; lr: T; beta1: T; "
     "beta2: T; epsilon: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false; use_nesterov: bool = false",
     UnchangedShape},
    {"ApplyAddSign", "var: Ref(T); m: Ref(T); lr: T; alpha: T; sign_decay: T; beta: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyCenteredRMSProp",
     "var: Ref(T); mg: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; "
     "grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyFtrl",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; lr: T; l1: T; l2: T; lr_power: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     UnchangedShape},
    {"ApplyFtrlV2",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; lr: T; l1: T; l2: T; l2_shrinkage: T; "
     "lr_power: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false",
     UnchangedShape},
    {"ApplyGradientDescent", "var: Ref(T); alpha: T; delta: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyMomentum", "var: Ref(T); accum: Ref(T); lr: T; grad: T; momentum: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false; use_nesterov: bool = false", UnchangedShape},
    {"ApplyPowerSign", "var: Ref(T); m: Ref(T); lr: T; logbase: T; sign_decay: T; beta: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyProximalAdagrad", "var: Ref(T); accum: Ref(T); lr: T; l1: T; l2: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyProximalGradientDescent", "var: Ref(T); alpha: T; l1: T; l2: T; delta: T", "out: Ref(T)",
     "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ApplyRMSProp",
     "var: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; grad: T",
     "out: Ref(T)", "T: numbertype; use_locking: bool = false", UnchangedShape},
    {"ResourceApplyAdaMax",
     "var: resource; m: resource; v: resource; beta1_power: T; lr: T; beta1: T; beta2: T; "
     "epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyAdadelta",
     "var: resource; accum: resource; accum_update: resource; lr: T; rho: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyAdagrad", "var: resource; accum: resource; lr: T; grad: T", "",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true", nullptr, kStateful},
    {"ResourceApplyAdagradDA",
     "var: resource; gradient_accumulator: resource; gradient_squared_accumulator: resource; "
     "grad: T; lr: T; l1: T; l2: T; global_step: int64",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyAdagradV2", "var: resource; accum: resource; lr: T; epsilon: T; grad: T", "",
     "T: numbertype; use_locking: bool = false; update_slots: bool = true", nullptr, kStateful},
    {"ResourceApplyAdam",
     "var: resource; m: resource; v: resource; beta1_power: T; beta2_power: T; lr: T; beta1: T; "
     "beta2: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false; use_nesterov: bool = false", nullptr,
     kStateful},
    {"ResourceApplyAdamWithAmsgrad",
     "var: resource; m: resource; v: resource; vhat: resource; beta1_power: T; beta2_power: T; "
     "lr: T; beta1: T; beta2: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyAddSign",
     "var: resource; m: resource; lr: T; alpha: T; sign_decay: T; beta: T; grad: T", "",
     "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyCenteredRMSProp",
     "var: resource; mg: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; "
     "epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyFtrl",
     "var: resource; accum: resource; linear: resource; grad: T; lr: T; l1: T; l2: T; lr_power: T",
     "", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false", nullptr,
     kStateful},
    {"ResourceApplyFtrlV2",
     "var: resource; accum: resource; linear: resource; grad: T; lr: T; l1: T; l2: T; "
     "l2_shrinkage: T; lr_power: T",
     "", "T: numbertype; use_locking: bool = false; multiply_linear_by_lr: bool = false", nullptr,
     kStateful},
    {"ResourceApplyGradientDescent", "var: resource; alpha: T; delta: T", "",
     "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyKerasMomentum", "var: resource; accum: resource; lr: T; grad: T; momentum: T",
     "", "T: numbertype; use_locking: bool = false; use_nesterov: bool = false", nullptr,
     kStateful},
    {"ResourceApplyMomentum", "var: resource; accum: resource; lr: T; grad: T; momentum: T", "",
     "T: numbertype; use_locking: bool = false; use_nesterov: bool = false", nullptr, kStateful},
    {"ResourceApplyPowerSign",
     "var: resource; m: resource; lr: T; logbase: T; sign_decay: T; beta: T; grad: T", "",
     "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyProximalAdagrad", "var: resource; accum: resource; lr: T; l1: T; l2: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyProximalGradientDescent", "var: resource; alpha: T; l1: T; l2: T; delta: T", "",
     "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceApplyRMSProp",
     "var: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; epsilon: T; grad: T",
     "", "T: numbertype; use_locking: bool = false", nullptr, kStateful},
    {"ResourceSparseApplyAdadelta",
     "var: resource; accum: resource; accum_update: resource; lr: T; rho: T; epsilon: T; grad: T; "
     "indices: Tindices",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", nullptr, kStateful},
    {"ResourceSparseApplyAdagrad",
     "var: resource; accum: resource; lr: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     nullptr, kStateful},
    {"ResourceSparseApplyAdagradDA",
     "var: resource; gradient_accumulator: resource; gradient_squared_accumulator: resource; "
     "grad: T; indices: Tindices; lr: T; l1: T; l2: T; global_step: int64",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", nullptr, kStateful},
    {"ResourceSparseApplyAdagradV2",
     "var: resource; accum: resource; lr: T; epsilon: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     nullptr, kStateful},
    {"ResourceSparseApplyCenteredRMSProp",
     "var: resource; mg: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; "
     "epsilon: T; grad: T; indices: Tindices",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", nullptr, kStateful},
    {"ResourceSparseApplyFtrl",
     "var: resource; accum: resource; linear: resource; grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; lr_power: T",
     "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     nullptr, kStateful},
    {"ResourceSparseApplyFtrlV2",
     "var: resource; accum: resource; linear: resource; grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; l2_shrinkage: T; lr_power: T",
     "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     nullptr, kStateful},
    {"ResourceSparseApplyKerasMomentum",
     "var: resource; accum: resource; lr: T; grad: T; indices: Tindices; momentum: T", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "use_nesterov: bool = false",
     nullptr, kStateful},
    {"ResourceSparseApplyMomentum",
     "var: resource; accum: resource; lr: T; grad: T; indices: Tindices; momentum: T", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "use_nesterov: bool = false",
     nullptr, kStateful},
    {"ResourceSparseApplyProximalAdagrad",
     "var: resource; accum: resource; lr: T; l1: T; l2: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", nullptr, kStateful},
    {"ResourceSparseApplyProximalGradientDescent",
     "var: resource; alpha: T; l1: T; l2: T; grad: T; indices: Tindices", "",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", nullptr, kStateful},
    {"ResourceSparseApplyRMSProp",
     "var: resource; ms: resource; mom: resource; lr: T; rho: T; momentum: T; epsilon: T; "
     "grad: T; indices: Tindices",
     "", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", nullptr, kStateful},
    {"SparseApplyAdadelta",
     "var: Ref(T); accum: Ref(T); accum_update: Ref(T); lr: T; rho: T; epsilon: T; grad: T; "
     "indices: Tindices",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     UnchangedShape},
    {"SparseApplyAdagrad", "var: Ref(T); accum: Ref(T); lr: T; grad: T; indices: Tindices",
     "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     UnchangedShape},
    {"SparseApplyAdagradDA",
     "var: Ref(T); gradient_accumulator: Ref(T); gradient_squared_accumulator: Ref(T); grad: T; "
     "indices: Tindices; lr: T; l1: T; l2: T; global_step: int64",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     UnchangedShape},
    {"SparseApplyAdagradV2",
     "var: Ref(T); accum: Ref(T); lr: T; epsilon: T; grad: T; indices: Tindices", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "update_slots: bool = true",
     UnchangedShape},
    {"SparseApplyCenteredRMSProp",
     "var: Ref(T); mg: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; "
     "grad: T; indices: Tindices",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     UnchangedShape},
    {"SparseApplyFtrl",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; lr_power: T",
     "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     UnchangedShape},
    {"SparseApplyFtrlV2",
     "var: Ref(T); accum: Ref(T); linear: Ref(T); grad: T; indices: Tindices; lr: T; l1: T; "
     "l2: T; l2_shrinkage: T; lr_power: T",
     "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "multiply_linear_by_lr: bool = false",
     UnchangedShape},
    {"SparseApplyMomentum",
     "var: Ref(T); accum: Ref(T); lr: T; grad: T; indices: Tindices; momentum: T", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false; "
     "use_nesterov: bool = false",
     UnchangedShape},
    {"SparseApplyProximalAdagrad",
     "var: Ref(T); accum: Ref(T); lr: T; l1: T; l2: T; grad: T; indices: Tindices", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", UnchangedShape},
    {"SparseApplyProximalGradientDescent",
     "var: Ref(T); alpha: T; l1: T; l2: T; grad: T; indices: Tindices", "out: Ref(T)",
     "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false", UnchangedShape},
    {"SparseApplyRMSProp",
     "var: Ref(T); ms: Ref(T); mom: Ref(T); lr: T; rho: T; momentum: T; epsilon: T; grad: T; "
     "indices: Tindices",
     "out: Ref(T)", "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false",
     UnchangedShape},
};

}  // namespace

absl::Span<const OpSpec> Training() { return kTrainingOps; }

}  // namespace tenon::ops

// Updates of variables where they are: assignments that add, and optimizers. A row of the table is
// what is computed from the op's inputs x0, x1, ..., of which the first are variables.

#include "../base/map.h"
#include "../base/registry.h"
#include "families.h"
#include "locked_variables.h"

namespace opencl {
namespace {

// New values of one variable; later steps see them.
struct Step {
  int variable;
  const char* value;  // NESTEROV, UPDATE_SLOTS and MULTIPLY are 1 or 0, as the op's attributes say
};

struct UpdateRow {
  OpRow row;
  int variables;
  int gradient;  // the input that has the variables' shape; all other inputs are scalars
  Step steps[4];
  const char* demand = nullptr;  // what must be true of the scalars
};

// What l, if it is above 0, leaves of r: soft thresholding.
#define SHRINK "r = l > 0 ? (C)((r > 0) - (r < 0)) * fmax(fabs(r) - l, (C)0) : r; "
// -1, 0 or 1.
#define SIGN(x) "(C)((" x " > 0) - (" x " < 0))"
#define TO_POWER(x) "(power == (C)0.5 ? sqrt(" x ") : pow(" x ", power))"
#define FTRL(lr_power)                                                                        \
  "0; const C outer = MULTIPLY ? x4 : (C)1, inner = MULTIPLY ? (C)1 : x4, power = -" lr_power \
  ", l1 = x5 * outer; "
#define FTRL_LINEAR(lr_power, shrinkage)                      \
  FTRL(lr_power)                                              \
  "const C sum = x1 + x3 * x3; r = x2 + (x3 + 2 * " shrinkage \
  " * x0) * outer - (" TO_POWER("sum") " - " TO_POWER("x1") ") / inner * x0"
#define FTRL_VARIABLE(lr_power) \
  FTRL(lr_power)                \
  "r = (fmin(fmax(x2, -l1), l1) - x2) / (" TO_POWER("x1") " / inner + 2 * x6 * outer)"

constexpr UpdateRow kUpdates[] = {
    {{"AssignAddVariableOp", kFloats | kI64, "dtype"}, 1, 1, {{0, "x0 + x1"}}},
    {{"AssignSubVariableOp", kFloats | kI64, "dtype"}, 1, 1, {{0, "x0 - x1"}}},
    {{"ResourceApplyGradientDescent", kFloats}, 1, 2, {{0, "x0 - x1 * x2"}}},
    {{"ResourceApplyMomentum", kFloats},
     2,
     3,
     {{1, "x1 * x4 + x3"}, {0, "NESTEROV ? x0 - (x3 * x2 + x1 * x4 * x2) : x0 - x1 * x2"}}},
    {{"ResourceApplyKerasMomentum", kFloats},
     2,
     3,
     {{1, "x1 * x4 - x3 * x2"}, {0, "NESTEROV ? x0 + x1 * x4 - x3 * x2 : x0 + x1"}}},
    {{"ResourceApplyAdagrad", kFloats},
     2,
     3,
     {{1, "UPDATE_SLOTS ? x1 + x3 * x3 : x1"}, {0, "x0 - x2 * x3 / sqrt(x1)"}}},
    {{"ResourceApplyAdagradV2", kFloats},
     2,
     4,
     {{1, "UPDATE_SLOTS ? x1 + x4 * x4 : x1"}, {0, "x0 - x2 * x4 / (sqrt(x1) + x3)"}}},
    {{"ResourceApplyRMSProp", kFloats},
     3,
     7,
     {{1, "x1 + (x7 * x7 - x1) * (1 - x4)"},
      {2, "x2 * x5 + x3 * x7 / sqrt(x1 + x6)"},
      {0, "x0 - x2"}}},
    {{"ResourceApplyAdam", kFloats},
     3,
     9,
     {{1, "x1 + (x9 - x1) * (1 - x6)"},
      {2, "x2 + (x9 * x9 - x2) * (1 - x7)"},
      {0,
       "x0 - x5 * sqrt(1 - x4) / (1 - x3) * (NESTEROV ? x9 * (1 - x6) + x6 * x1 : x1) / (sqrt(x2) "
       "+ x8)"}}},
    {{"ResourceApplyAdamWithAmsgrad", kFloats},
     4,
     10,
     {{1, "x1 + (x10 - x1) * (1 - x7)"},
      {2, "x2 + (x10 * x10 - x2) * (1 - x8)"},
      {3, "x3 < x2 ? x2 : x3"},
      {0, "x0 - x1 * (x6 * sqrt(1 - x5) / (1 - x4)) / (sqrt(x3) + x9)"}}},
    {{"ResourceApplyAdaMax", kFloats},
     3,
     8,
     {{1, "x1 + (x8 - x1) * (1 - x5)"},
      {2, "x6 * x2 < fabs(x8) ? fabs(x8) : x6 * x2"},
      {0, "x0 - x4 / (1 - x3) * (x1 / (x2 + x7))"}}},
    {{"ResourceApplyAdadelta", kFloats},
     3,
     6,
     {{1, "x1 * x4 + x6 * x6 * (1 - x4)"},
      {0, "x0 - sqrt(x2 + x5) / sqrt(x1 + x5) * x6 * x3"},
      {2, "sqrt(x2 + x5) / sqrt(x1 + x5) * x6; r = x2 * x4 + r * r * (1 - x4)"}}},
    {{"ResourceApplyAddSign", kFloats},
     2,
     6,
     {{1, "x1 * x5 + x6 * (1 - x5)"},
      {0, "x0 - x2 * (x3 + x4 * " SIGN("x6") " * " SIGN("x1") ") * x6"}}},
    {{"ResourceApplyPowerSign", kFloats},
     2,
     6,
     {{1, "x1 * x5 + x6 * (1 - x5)"},
      {0, "x0 - x2 * exp(x3 * x4 * " SIGN("x6") " * " SIGN("x1") ") * x6"}}},
    {{"ResourceApplyCenteredRMSProp", kFloats},
     4,
     8,
     {{2, "x2 + (x8 * x8 - x2) * (1 - x5)"},
      {1, "x1 + (x8 - x1) * (1 - x5)"},
      {3, "x3 * x6 + x8 * x4 / sqrt(x2 - x1 * x1 + x7)"},
      {0, "x0 - x3"}}},
    {{"ResourceApplyAdagradDA", kFloats},
     3,
     3,
     {{1, "x1 + x3"},
      {2, "x2 + x3 * x3"},
      {0, "x1; const C l = x5 * (C)x7; " SHRINK "r = -x4 * r / (x6 * (C)x7 * x4 + sqrt(x2))"}}},
    {{"ResourceApplyProximalGradientDescent", kFloats},
     1,
     4,
     {{0, "x0 - x1 * x4; const C l = x2 * x1; " SHRINK "r = r / (1 + x3 * x1)"}}},
    {{"ResourceApplyProximalAdagrad", kFloats},
     2,
     5,
     {{1, "x1 + x5 * x5"},
      {0, "0; const C rate = x2 / sqrt(x1), l = x3 * rate; r = x0 - x5 * rate; " SHRINK
          "r = r / (1 + x4 * rate)"}},
     "x2 > 0 && x3 >= 0 && x4 >= 0"},
    {{"ResourceApplyFtrl", kFloats},
     3,
     3,
     {{2, FTRL_LINEAR("x7", "(C)0")}, {1, "x1 + x3 * x3"}, {0, FTRL_VARIABLE("x7")}},
     "(MULTIPLY ? x4 >= 0 : x4 > 0) && x5 >= 0 && x6 >= 0 && x7 <= 0"},
    {{"ResourceApplyFtrlV2", kFloats},
     3,
     3,
     {{2, FTRL_LINEAR("x8", "x7")}, {1, "x1 + x3 * x3"}, {0, FTRL_VARIABLE("x8")}},
     "(MULTIPLY ? x4 >= 0 : x4 > 0) && x5 >= 0 && x6 >= 0 && x7 >= 0 && x8 <= 0"},
};
#undef SHRINK
#undef SIGN
#undef TO_POWER
#undef FTRL
#undef FTRL_LINEAR
#undef FTRL_VARIABLE

class Update {
 public:
  Update(const Construction& node, const UpdateRow& row) : row_(row) {
    const std::string flags = Flag(node, "use_nesterov", "NESTEROV", false) +
                              Flag(node, "update_slots", "UPDATE_SLOTS", true) +
                              Flag(node, "multiply_linear_by_lr", "MULTIPLY", false);
    for (const Step& step : row.steps) {
      if (step.value == nullptr) break;
      bodies_.push_back({flags + "r = " + step.value + ";"});
    }
    if (row.demand != nullptr) {
      bodies_[0].body += std::string(" if (!(") + row.demand + ")) Report(errors, number, 0);";
      bodies_[0].report =
          "a number that steers the update cannot be what it is in " + node.NodeText(row.row.op);
    }
    locks_ = node.Has("use_locking") && node.Bool("use_locking");
  }

  void Compute(Call& call) const {
    const LockedVariables locked(call, row_.variables, locks_);
    std::vector<Tensor> x = locked.tensors();
    for (int i = row_.variables; i < call.inputs(); ++i) x.push_back(call.In(i));
    CheckShapes(x);
    for (size_t i = 0; i < bodies_.size(); ++i)
      RunBroadcastMap(call, bodies_[i], x, x[static_cast<size_t>(row_.steps[i].variable)]);
  }

 private:
  static std::string Flag(const Construction& node, const char* attr, const char* name,
                          bool value) {
    if (node.Has(attr)) value = node.Bool(attr);
    return std::string("const int ") + name + " = " + (value ? "1" : "0") + "; ";
  }

  void CheckShapes(const std::vector<Tensor>& x) const {
    for (size_t i = 1; i < x.size(); ++i) {
      const bool whole =
          static_cast<int>(i) < row_.variables || static_cast<int>(i) == row_.gradient;
      if (whole && x[i].dims != x[0].dims) {
        Refuse(std::string(row_.row.op) + ": var and input " + std::to_string(i) +
               " do not have the same shape " + ShapeText(x[0].dims) + " " + ShapeText(x[i].dims));
      }
      if (!whole && x[i].rank() != 0) {
        Refuse(std::string(row_.row.op) + ": input " + std::to_string(i) +
               " is not a scalar: " + ShapeText(x[i].dims));
      }
    }
  }

  const UpdateRow& row_;
  std::vector<MapBody> bodies_;  // of the steps
  bool locks_ = false;
};

}  // namespace

void RegisterVariables() {
  if (HasVariables()) RegisterTable<Update, kUpdates>();
}

}  // namespace opencl

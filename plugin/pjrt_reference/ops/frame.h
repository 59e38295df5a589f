// What an op meets when it runs: its operands' values, a place for its results, and regions that it
// may call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../base/array.h"
#include "../text/module.h"

namespace pjref {

// What one run of a program is told.
struct RunOptions {
  // The name of an op whose results get a wrong first element (Spoil), as "stablehlo.add"; empty:
  // none. What a wrong plug-in does.
  std::string wrong_op;
  // Called before every turn of a stablehlo.while, once its condition is true; may throw to end the
  // run. Empty: nothing is called.
  std::function<void()> before_op;
};

// The values of one call of a function. One thread.
class Frame {
 public:
  Frame(const Module& module, const Function& function, const RunOptions& options)
      : module_(module), options_(options), values_(function.value_types.size()) {}

  const Array& In(const Op& op, size_t index) const { return values_[op.operands[index]]; }
  // The operand, in memory that the caller may write to. That is the operand's own memory if the op
  // is the last one to use the value, which the frame then forgets, and no other array shares it.
  // Else a copy. Where another operand of the op is the same value, In may find it gone afterwards.
  Array Take(const Op& op, size_t index);
  void Out(const Op& op, size_t index, Array value) {
    values_[op.results[index]] = std::move(value);
  }
  void Out(const Op& op, Array value) { Out(op, 0, std::move(value)); }

  // Runs a region of this function, which may read the values around it. Returns what the region
  // returns.
  std::vector<Array> Run(const Region& region, std::vector<Array> arguments);
  // Calls another function of the module, in a frame of its own.
  std::vector<Array> Call(const Function& function, std::vector<Array> arguments);
  const Array& value(int number) const { return values_[number]; }
  void set_value(int number, Array value) { values_[number] = std::move(value); }
  const RunOptions& options() const { return options_; }

 private:
  const Module& module_;
  const RunOptions& options_;
  std::vector<Array> values_;
};

// A table's row: an op, what it asks of its operands, and how it is computed.
struct OpRow {
  std::string_view name;
  // Refuses an op whose operands, attributes, regions and declared results do not fit each other.
  // Operands and results have types that fit memory. What `check` has accepted, `evaluate` need not
  // check again.
  void (*check)(const Op& op);
  void (*evaluate)(Frame* frame, const Op& op);
  // Of an op that computes each element by itself: the result for operands of shape `dims`,
  // whatever shapes the op declares. So a region over scalars is computed for many elements at
  // once. Null for other ops.
  Array (*lifted)(const Op& op, const std::vector<Array>& operands, const Dims& dims);
};

// Null if the plug-in does not know the op.
const OpRow* FindRow(std::string_view name);

// The first element x of each result of the op becomes 2 x + 1; of i1 the other value. So -1, all
// ones, infinities and NaN stay right.
void Spoil(Frame* frame, const Op& op);

// The evaluation of an op of one result, which `lifted` computes from all operands.
template <Array (*lifted)(const Op&, const std::vector<Array>&, const Dims&)>
void EvaluateLifted(Frame* frame, const Op& op) {
  std::vector<Array> operands;
  for (size_t i = 0; i < op.operands.size(); ++i) operands.push_back(frame->In(op, i));
  frame->Out(op, lifted(op, operands, op.result_types[0].dims));
}

}  // namespace pjref

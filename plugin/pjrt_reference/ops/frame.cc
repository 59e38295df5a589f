#include "frame.h"

#include <cstring>
#include <string>
#include <unordered_map>

#include "families.h"

namespace pjref {

const OpRow* FindRow(std::string_view name) {
  static const auto* const kRows = [] {
    auto* rows = new std::unordered_map<std::string_view, const OpRow*>;
    for (const auto* family :
         {&UnaryRows(), &BinaryRows(), &ConversionRows(), &SpecialRows(), &MovementRows(),
          &DynamicRows(), &IndexingRows(), &ReductionRows(), &WindowRows(), &SortRows(),
          &ProductRows(), &ConvolutionRows(), &NormalizationRows(), &LinearAlgebraRows(),
          &FourierRows(), &RandomRows(), &ControlRows()}) {
      for (const OpRow& row : *family) rows->emplace(row.name, &row);
    }
    return rows;
  }();
  const auto found = kRows->find(name);
  return found == kRows->end() ? nullptr : found->second;
}

Array Frame::Take(const Op& op, size_t index) {
  const int number = op.operands[index];
  Array value = values_[number];
  for (int last : op.last_uses) {
    if (last == number) values_[number] = Array();
  }
  return std::move(value).Own();
}

std::vector<Array> Frame::Run(const Region& region, std::vector<Array> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    values_[region.arguments[i]] = std::move(arguments[i]);
  for (const Op& op : region.ops) {
    if (&op == &region.ops.back()) break;
    op.row->evaluate(this, op);
    if (!options_.wrong_op.empty() && op.name == options_.wrong_op) Spoil(this, op);
    for (int number : op.last_uses) values_[number] = Array();
  }
  std::vector<Array> results;
  for (int number : region.ops.back().operands) results.push_back(values_[number]);
  for (int number : region.ops.back().last_uses) values_[number] = Array();
  return results;
}

std::vector<Array> Frame::Call(const Function& function, std::vector<Array> arguments) {
  return Frame(module_, function, options_).Run(function.body, std::move(arguments));
}

void Spoil(Frame* frame, const Op& op) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Array& value = frame->value(op.results[i]);
    if (value.count() == 0 || !IsNumber(value.element())) continue;
    Array wrong(value.type());
    std::memcpy(wrong.data(), value.data(), value.bytes());
    VisitComputed(value.element(), [&](auto zero) {
      using T = decltype(zero);
      T first;
      Load(wrong, 0, 1, &first);
      const T other = static_cast<T>(first + first + T(1));  // the same of -1 and of infinities
      const bool differs = wrong.element() != Element::kI1 && other != first && other == other;
      first = differs ? other : static_cast<T>(first == T(0) ? T(1) : T(0));
      Store(&first, 0, 1, wrong);
    });
    frame->set_value(op.results[i], std::move(wrong));
  }
}

}  // namespace pjref

#include "plugin/cpu/random/philox_source.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

int InputNamed(const OpDef& op, std::string_view name) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

Philox PhiloxFromSeed(const void* seed, DataType type) {
  const auto load = [&](int64_t i) {
    if (type == DataType::kUint32) return uint64_t{static_cast<const uint32_t*>(seed)[i]};
    return static_cast<uint64_t>(LoadIndex(seed, DataTypeSize(type) == 8, i));
  };
  return StatelessPhilox(load(0), load(1));
}

absl::StatusOr<PhiloxSource> PhiloxSource::Of(const Prepare& p) {
  PhiloxSource s;
  s.seed_ = InputNamed(p.op(), "seed");
  s.key_ = InputNamed(p.op(), "key");
  if (s.seed_ >= 0) {
    if (!(p.input_shape(s.seed_) == Shape({2}))) return p.Invalid("'seed' must hold two numbers");
    s.seed_type_ = p.input_type(s.seed_);
  } else if (s.key_ >= 0) {
    s.counter_ = InputNamed(p.op(), "counter");
    s.algorithm_ = InputNamed(p.op(), "alg");
    if (!(p.input_shape(s.key_) == Shape({1}))) return p.Invalid("'key' must hold one number");
    const Shape& counter = p.input_shape(s.counter_);
    if (counter.rank() != 1 || counter.dim(0) < 2)
      return p.Invalid("'counter' must hold two numbers");
    if (p.input_shape(s.algorithm_).rank() != 0) return p.Invalid("'alg' must be a scalar");
  } else if (InputNamed(p.op(), "resource") >= 0) {
    s.resource_ = InputNamed(p.op(), "resource");
    s.algorithm_ = InputNamed(p.op(), "algorithm");
    if (p.input_shape(s.resource_).num_elements() != 1)
      return p.Invalid("'resource' must hold one handle");
    if (s.algorithm_ >= 0 && p.input_shape(s.algorithm_).rank() != 0)
      return p.Invalid("'algorithm' must be a scalar");
  } else if (p.op().FindAttr("seed") == nullptr) {
    s.generator_ = GeneratorOf(p, 0, 0);
  } else {
    TENON_ASSIGN_OR_RETURN(s.generator_, GeneratorOf(p));
  }
  return s;
}

absl::StatusOr<Philox> PhiloxSource::Start(const StepArgs& args, uint64_t blocks) const {
  if (generator_ != nullptr) return generator_->Reserve(blocks);
  if (seed_ >= 0) return PhiloxFromSeed(args.in[seed_], seed_type_);
  if (resource_ >= 0) {
    const bool in_state = algorithm_ < 0;
    if (!in_state)
      TENON_RETURN_IF_ERROR(CheckAlgorithm(*static_cast<const int64_t*>(args.in[algorithm_])));
    TENON_ASSIGN_OR_RETURN(Variable * variable, GeneratorInput(args, resource_));
    return Reserve(*variable, in_state ? 1 : 0, blocks);
  }
  TENON_RETURN_IF_ERROR(CheckAlgorithm(*static_cast<const int32_t*>(args.in[algorithm_])));
  const uint64_t key = *static_cast<const uint64_t*>(args.in[key_]);
  const auto* counter = static_cast<const uint64_t*>(args.in[counter_]);
  Philox philox;
  philox.key = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  philox.counter = {static_cast<uint32_t>(counter[0]), static_cast<uint32_t>(counter[0] >> 32),
                    static_cast<uint32_t>(counter[1]), static_cast<uint32_t>(counter[1] >> 32)};
  return philox;
}

}  // namespace tenon::cpu

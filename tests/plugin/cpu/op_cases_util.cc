#include "tests/plugin/cpu/op_cases_util.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_registry.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::testing {
namespace {

class CaseSession : public SessionState {
 public:
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view name, const std::function<std::shared_ptr<NodeState>()>& make) override {
    std::shared_ptr<NodeState>& state = states_[std::string(name)];
    if (state == nullptr) state = make();
    return state;
  }
  std::shared_ptr<const void> GetPacked(
      const void*, std::string_view,
      const std::function<std::shared_ptr<const void>()>& make) override {
    return make();
  }

 private:
  std::map<std::string, std::shared_ptr<NodeState>> states_;
};

class OutputsState : public RunState {
 public:
  OutputsState(const Prepare& p, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs)
      : p_(p), inputs_(inputs), outputs_(outputs) {}
  absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) override {
    TENON_ASSIGN_OR_RETURN((*outputs_)[i], Tensor::Allocate(p_.output_type(i), shape));
    return (*outputs_)[i].data();
  }
  void SetOutput(int i, Tensor value) override { (*outputs_)[i] = std::move(value); }
  Tensor Input(int i) override { return inputs_[i]; }
  absl::StatusOr<Tensor> TakeInput(int i) override { return inputs_[i]; }

 private:
  const Prepare& p_;
  const std::vector<Tensor>& inputs_;
  std::vector<Tensor>* outputs_;
};

bool NeedsValue(uint32_t value_inputs, int i) { return value_inputs >> std::min(i, 31) & 1; }

// The values of one case's nodes.
class Evaluator {
 public:
  explicit Evaluator(const Graph& graph) : graph_(graph) {}

  absl::StatusOr<Tensor> Value(Output o) {
    TENON_RETURN_IF_ERROR(Run(o.node));
    const std::vector<Tensor>& outputs = values_[o.node];
    if (o.port < 0 || o.port >= static_cast<int>(outputs.size()))
      return absl::InternalError("no such output");
    return outputs[o.port];
  }

  // Cases are a few nodes deep.
  absl::Status Run(NodeId n) {
    if (values_.contains(n)) return absl::OkStatus();
    for (const Output& in : graph_.inputs(n)) {
      if (in.node == kNoNode) return absl::InvalidArgumentError("a missing input");
      TENON_RETURN_IF_ERROR(Run(in.node));
    }
    std::vector<Tensor> inputs;
    for (const Output& in : graph_.data_inputs(n)) {
      TENON_ASSIGN_OR_RETURN(Tensor t, Value(in));
      inputs.push_back(std::move(t));
    }
    TENON_ASSIGN_OR_RETURN(values_[n], RunNode(n, inputs));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::vector<Tensor>> RunNode(NodeId n, const std::vector<Tensor>& inputs) {
    const NodeKind& kind = graph_.kind(n);
    TENON_RETURN_IF_ERROR(kind.types_status);
    absl::StatusOr<std::shared_ptr<const KernelDef>> kernel =
        KernelRegistry::Global().Find(graph_.name(n), kind.op_name, kind.attrs, kind.op, "CPU", "");
    if (!kernel.ok()) return absl::UnimplementedError(kernel.status().message());
    const CpuKernelSpec& spec = *(*kernel)->cpu;
    std::vector<Prepare::Input> described(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      described[i].shape = inputs[i].shape();
      const bool constant = graph_.op_name(graph_.data_inputs(n)[i].node) == "Const";
      if (constant || NeedsValue(spec.value_inputs, static_cast<int>(i)))
        described[i].value = &inputs[i];
    }
    Prepare p(graph_.name(n), *kind.op, kind.attrs, kind.types, std::move(described), session_,
              workers_);
    TENON_RETURN_IF_ERROR(spec.prepare(p));
    return RunPrepared(p, inputs);
  }

  absl::StatusOr<std::vector<Tensor>> RunPrepared(Prepare& p, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> outputs(p.num_outputs());
    std::vector<void*> in, out(p.num_outputs());
    for (const Tensor& t : inputs) in.push_back(t.data());
    for (int i = 0; i < p.num_outputs(); ++i) {
      const Prepare::PreparedOutput& o = p.outputs()[i];
      if (o.value.has_value()) {
        outputs[i] = *o.value;
      } else if (o.alias.has_value()) {
        const Tensor& from = inputs[*o.alias];
        outputs[i] = Tensor(p.output_type(i), o.shape, from.buffer());
      } else if (!o.dynamic) {
        TENON_ASSIGN_OR_RETURN(outputs[i], Tensor::Allocate(p.output_type(i), o.shape));
        out[i] = outputs[i].data();
      }
    }
    if (p.run() == nullptr) return outputs;
    std::vector<char> scratch(p.scratch_bytes() + kTensorAlignment);
    const uintptr_t at = (reinterpret_cast<uintptr_t>(scratch.data()) + kTensorAlignment - 1) &
                         ~(kTensorAlignment - 1);
    OutputsState state(p, inputs, &outputs);
    DenormalGuard flush;
    StepArgs args{in.data(), out.data(), reinterpret_cast<void*>(at), &workers_, &state};
    TENON_RETURN_IF_ERROR(p.run()(p.state().get(), args));
    return outputs;
  }

  const Graph& graph_;
  CaseSession session_;
  Workers workers_{2};
  std::map<NodeId, std::vector<Tensor>> values_;
};

struct Tolerance {
  double rtol = 0, atol = 0;
  bool given = false;
};

bool Near(double got, double want, double scale, const Tolerance& t) {
  if (got == want) return true;
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::abs(got - want) <= t.atol + t.rtol * scale;
}

float WidenHalf(uint16_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                               : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}
float WidenBfloat16(uint16_t b) {
  const uint32_t bits = static_cast<uint32_t>(b) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

// Element i as a number; nullopt for a type that is compared by its bytes.
std::optional<double> Number(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DataType::kFloat:
      return t.flat<float>()[i];
    case DataType::kDouble:
      return t.flat<double>()[i];
    case DataType::kHalf:
      return WidenHalf(t.flat<uint16_t>()[i]);
    case DataType::kBfloat16:
      return WidenBfloat16(t.flat<uint16_t>()[i]);
    case DataType::kInt8:
    case DataType::kQint8:
      return t.flat<int8_t>()[i];
    case DataType::kUint8:
    case DataType::kQuint8:
      return t.flat<uint8_t>()[i];
    case DataType::kInt16:
    case DataType::kQint16:
      return t.flat<int16_t>()[i];
    case DataType::kUint16:
    case DataType::kQuint16:
      return t.flat<uint16_t>()[i];
    case DataType::kInt32:
    case DataType::kQint32:
      return t.flat<int32_t>()[i];
    default:
      return std::nullopt;
  }
}

Tolerance DefaultTolerance(DataType t) {
  switch (t) {
    case DataType::kFloat:
    case DataType::kComplex64:
      return {1e-5, 1e-6};
    case DataType::kDouble:
    case DataType::kComplex128:
      return {1e-9, 1e-12};
    case DataType::kHalf:
    case DataType::kBfloat16:
      return {1e-2, 1e-2};
    default:
      return {};
  }
}

// Of the 8-bit floats; every NaN equals every other.
bool IsFloat8Nan(DataType type, uint8_t bits) {
  switch (type) {
    case DataType::kFloat8E5m2:
      return (bits & 0x7c) == 0x7c && (bits & 3) != 0;
    case DataType::kFloat8E4m3fn:
      return (bits & 0x7f) == 0x7f;
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
      return bits == 0x80;
    default:
      return false;
  }
}

bool ElementEqual(const Tensor& got, const Tensor& want, int64_t i, const Tolerance& t) {
  const DataType type = want.dtype();
  if (type == DataType::kString) return got.StringAt(i) == want.StringAt(i);
  if (type == DataType::kComplex64 || type == DataType::kComplex128) {
    const auto read = [&](const Tensor& x) {
      return type == DataType::kComplex64 ? std::complex<double>(x.flat<std::complex<float>>()[i])
                                          : x.flat<std::complex<double>>()[i];
    };
    const std::complex<double> g = read(got), w = read(want);
    const double scale = std::abs(w);
    return Near(g.real(), w.real(), scale, t) && Near(g.imag(), w.imag(), scale, t);
  }
  const std::optional<double> g = Number(got, i), w = Number(want, i);
  if (g.has_value()) return Near(*g, *w, std::abs(*w), t);
  const size_t size = DataTypeSize(type);
  if (size == 1 && IsFloat8Nan(type, want.flat<uint8_t>()[i]))
    return IsFloat8Nan(type, got.flat<uint8_t>()[i]);
  if (t.given &&
      (type == DataType::kInt64 || type == DataType::kUint64 || type == DataType::kUint32)) {
    const double a = static_cast<double>(got.IntAt(i)), b = static_cast<double>(want.IntAt(i));
    return Near(a, b, std::abs(b), t);
  }
  return std::memcmp(static_cast<char*>(got.data()) + i * size,
                     static_cast<char*>(want.data()) + i * size, size) == 0;
}

std::string Show(const Tensor& t, int64_t i) {
  if (t.dtype() == DataType::kString) return std::string(t.StringAt(i));
  if (const std::optional<double> v = Number(t, i)) return absl::StrCat(*v);
  if (t.dtype() == DataType::kComplex64) {
    const auto c = t.flat<std::complex<float>>()[i];
    return absl::StrCat(c.real(), "+", c.imag(), "i");
  }
  if (t.dtype() == DataType::kComplex128) {
    const auto c = t.flat<std::complex<double>>()[i];
    return absl::StrCat(c.real(), "+", c.imag(), "i");
  }
  if (t.dtype() == DataType::kInt64) return absl::StrCat(t.flat<int64_t>()[i]);
  return absl::StrCat(
      "#", static_cast<int>(static_cast<uint8_t*>(t.data())[i * DataTypeSize(t.dtype())]));
}

std::string Compare(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (got.dtype() != want.dtype()) {
    return absl::StrCat("is ", DataTypeName(got.dtype()), ", want ", DataTypeName(want.dtype()));
  }
  if (!(got.shape() == want.shape()))
    return absl::StrCat("is ", got.shape().ToString(), ", want ", want.shape().ToString());
  const bool exact = want.dtype() == DataType::kString || want.dtype() == DataType::kBool;
  if (!tolerance.given || exact) tolerance = DefaultTolerance(want.dtype());
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    if (!ElementEqual(got, want, i, tolerance))
      return absl::StrCat("[", i, "] is ", Show(got, i), ", want ", Show(want, i));
  }
  return "";
}

// The nodes of one scope.
struct Case {
  NodeId op = kNoNode, fetch = kNoNode, error = kNoNode, tol = kNoNode;
  std::map<int, NodeId> wants;
};

std::map<std::string, Case> SplitCases(const Graph& graph) {
  std::map<std::string, Case> cases;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    const std::string_view name = graph.name(n);
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) continue;
    Case& c = cases[std::string(name.substr(0, slash))];
    const std::string_view rest = name.substr(slash + 1);
    int index;
    if (rest == "op") c.op = n;
    if (rest == "fetch") c.fetch = n;
    if (rest == "error") c.error = n;
    if (rest == "tol") c.tol = n;
    if (absl::StartsWith(rest, "want") && absl::SimpleAtoi(rest.substr(4), &index))
      c.wants[index] = n;
  }
  return cases;
}

absl::StatusOr<std::vector<Output>> Fetches(const Graph& graph, const Case& c) {
  std::vector<Output> fetches;
  if (c.fetch != kNoNode) {
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names,
                           graph.attrs(c.fetch).Find("fetch")->AsStringList());
    for (std::string_view name : names) {
      TENON_ASSIGN_OR_RETURN(const Output o, graph.ParseOutput(name));
      fetches.push_back(o);
    }
    return fetches;
  }
  const int count = c.wants.empty() ? 0 : c.wants.rbegin()->first + 1;
  for (int i = 0; i < count; ++i) fetches.push_back({c.op, i});
  return fetches;
}

absl::Status RunCase(const Graph& graph, const Case& c, std::string* difference) {
  Evaluator evaluator(graph);
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> fetches, Fetches(graph, c));
  if (fetches.empty()) {
    if (c.op == kNoNode) return absl::NotFoundError("no op");
    return evaluator.Run(c.op);
  }
  for (const Output& o : fetches) TENON_RETURN_IF_ERROR(evaluator.Run(o.node));
  Tolerance tolerance;
  if (c.tol != kNoNode) {
    tolerance = {*graph.attrs(c.tol).Find("rtol")->AsFloat(),
                 *graph.attrs(c.tol).Find("atol")->AsFloat(), true};
  }
  for (const auto& [index, node] : c.wants) {
    TENON_ASSIGN_OR_RETURN(const Tensor got, evaluator.Value(fetches[index]));
    TENON_ASSIGN_OR_RETURN(const Tensor want, evaluator.Value({node, 0}));
    const std::string problem = Compare(got, want, tolerance);
    if (!problem.empty()) *difference = absl::StrCat("want", index, ": ", problem);
  }
  return absl::OkStatus();
}

// What is wrong with a case's answer.
std::string Judge(const Imported& imported, const std::string& name, const Case& c) {
  absl::Status status;
  for (const Defect& defect : imported.defects) {
    if (absl::StartsWith(defect.node, name + "/"))
      status = absl::InvalidArgumentError(defect.message);
  }
  std::string difference;
  if (status.ok()) status = RunCase(imported.graph, c, &difference);
  if (c.error == kNoNode) return status.ok() ? difference : status.ToString();
  const std::string_view code = *imported.graph.attrs(c.error).Find("code")->AsString();
  if (absl::StatusCodeToString(status.code()) == code) return "";
  return absl::StrCat("want ", code, ", got ", status.ToString());
}

}  // namespace

std::vector<CaseResult> RunOpCases(const std::string& path) {
  absl::StatusOr<Imported> imported = ImportFile(path);
  if (!imported.ok()) return {{path, imported.status().ToString()}};
  std::vector<CaseResult> results;
  for (const auto& [name, c] : SplitCases(imported->graph))
    results.push_back({name, Judge(*imported, name, c)});
  return results;
}

}  // namespace tenon::testing

// The ops on hash tables. Tables of version 1 pass their handle by reference; nothing else differs.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/table.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// A table belongs to its shared name, or else to its node.
struct TableState : NodeFacts {
  explicit TableState(const Prepare& p) : NodeFacts(p), resources(p.session().resources()) {}
  ResourceManager& resources;
  std::string container, shared_name;
  Table::Options options;
};

absl::Status RunTable(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TableState*>(state);
  Table::Options options = s.options;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const Tensor no_key = args.run_state->Input(static_cast<int>(i));
    if (i == 0) options.key_shape = no_key.shape();
    if (no_key.num_elements() == 0 || !(no_key.shape() == options.key_shape)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the empty and the deleted key must have one shape, and elements, but input ", i,
          " has shape ", no_key.shape().ToString()));
    }
    options.no_keys.push_back(Table::KeyOf(no_key, 0, no_key.num_elements()));
  }
  if (options.no_keys.size() == 2 && options.no_keys[0] == options.no_keys[1])
    return absl::InvalidArgumentError("Empty and deleted keys cannot be equal");
  const auto make = [&] { return ObjectRef<Table>::Make(s.shared_name, options); };
  ObjectRef<Table> table =
      options.anonymous ? make()
                        : s.resources.LookupOrCreate<Table>(s.container, s.shared_name, make);
  const Table::Options& has = table->options();
  if (has.key_type != options.key_type || has.value_type != options.value_type) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is a table '", s.shared_name, "' from ", DataTypeName(has.key_type),
                     " to ", DataTypeName(has.value_type), ", not from ",
                     DataTypeName(options.key_type), " to ", DataTypeName(options.value_type)));
  }
  TENON_ASSIGN_OR_RETURN(
      Tensor handle, HandleTensor(DataType::kResource, ObjectRef<Object>::Adopt(table.release())));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status PrepareTable(Prepare& p) {
  auto s = std::make_shared<TableState>(p);
  TENON_ASSIGN_OR_RETURN(s->options.key_type, p.AttrType("key_dtype"));
  TENON_ASSIGN_OR_RETURN(s->options.value_type, p.AttrType("value_dtype"));
  const std::string_view op = p.op().name;
  s->options.is_mutable = op.find("Mutable") != op.npos;
  s->options.anonymous = op.starts_with("Anonymous");
  if (p.op().FindAttr("value_shape") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const PartialShape shape, p.AttrShape("value_shape"));
    if (!shape.fully_defined()) return p.Invalid("'value_shape' must be known");
    s->options.value_shape = *shape.ToShape();
    // Tables of tensors hold vectors, also in TensorFlow; dense ones hold any shape.
    if (op.find("OfTensors") != op.npos && shape.rank() != 1)
      return p.Invalid(
          absl::StrCat("Default value must be a vector, got shape ", shape.ToString()));
  }
  if (!s->options.anonymous) {
    TENON_ASSIGN_OR_RETURN(s->container, p.AttrString("container"));
    TENON_ASSIGN_OR_RETURN(s->shared_name, p.AttrString("shared_name"));
  }
  if (s->shared_name.empty()) s->shared_name = s->name;
  p.set_dynamic_output(0);
  p.set_run(&RunTable, std::move(s));
  return absl::OkStatus();
}

absl::Status RunFind(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  TENON_ASSIGN_OR_RETURN(Tensor values,
                         table->Find(args.run_state->Input(1), args.run_state->Input(2)));
  args.run_state->SetOutput(0, std::move(values));
  return absl::OkStatus();
}

absl::Status RunInitialize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  return table->Initialize(args.run_state->Input(1), args.run_state->Input(2));
}

absl::Status RunInsert(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  return table->Insert(args.run_state->Input(1), args.run_state->Input(2));
}

// What the table had goes; one that is filled once is filled.
absl::Status RunImport(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  const Tensor keys = args.run_state->Input(1), values = args.run_state->Input(2);
  return table->options().is_mutable ? table->Import(keys, values)
                                     : table->Initialize(keys, values);
}

absl::Status RunRemove(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  return table->Remove(args.run_state->Input(1));
}

absl::Status RunTableSize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  TENON_ASSIGN_OR_RETURN(*static_cast<int64_t*>(args.out[0]), table->Size());
  return absl::OkStatus();
}

absl::Status RunExport(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  const Table::Options& has = table->options();
  if (has.key_type != s.outputs[0] || has.value_type != s.outputs[1]) {
    return absl::InvalidArgumentError(absl::StrCat("table '", table->name(), "' goes from ",
                                                   DataTypeName(has.key_type), " to ",
                                                   DataTypeName(has.value_type)));
  }
  TENON_ASSIGN_OR_RETURN(Table::Entries entries, table->Export());
  args.run_state->SetOutput(0, std::move(entries.keys));
  args.run_state->SetOutput(1, std::move(entries.values));
  return absl::OkStatus();
}

CpuKernelSpec TableKernel(const char* op) {
  constexpr uint64_t kKeys = kRealTypes | TypeBits(DataType::kString, DataType::kBool);
  CpuKernelSpec spec = WholeTensorKernel(op, "key_dtype", kKeys, PrepareTable);
  spec.constraints.push_back({"value_dtype", kCopyTypes});
  return spec;
}

}  // namespace

absl::Span<const CpuKernelSpec> TableKernels() {
  static const CpuKernelSpec specs[] = {
      TableKernel("HashTable"),
      TableKernel("HashTableV2"),
      TableKernel("AnonymousHashTable"),
      TableKernel("MutableHashTable"),
      TableKernel("MutableHashTableV2"),
      TableKernel("AnonymousMutableHashTable"),
      TableKernel("MutableHashTableOfTensors"),
      TableKernel("MutableHashTableOfTensorsV2"),
      TableKernel("AnonymousMutableHashTableOfTensors"),
      TableKernel("MutableDenseHashTable"),
      TableKernel("MutableDenseHashTableV2"),
      TableKernel("AnonymousMutableDenseHashTable"),
      WholeTensorKernel("InitializeTable", PrepareWhole<&RunInitialize>),
      WholeTensorKernel("InitializeTableV2", PrepareWhole<&RunInitialize>),
      WholeTensorKernel("LookupTableFind", PrepareWhole<&RunFind>),
      WholeTensorKernel("LookupTableFindV2", PrepareWhole<&RunFind>),
      WholeTensorKernel("LookupTableInsert", PrepareWhole<&RunInsert>),
      WholeTensorKernel("LookupTableInsertV2", PrepareWhole<&RunInsert>),
      WholeTensorKernel("LookupTableRemoveV2", PrepareWhole<&RunRemove>),
      WholeTensorKernel("LookupTableImport", PrepareWhole<&RunImport>),
      WholeTensorKernel("LookupTableImportV2", PrepareWhole<&RunImport>),
      WholeTensorKernel("LookupTableExport", PrepareWhole<&RunExport>),
      WholeTensorKernel("LookupTableExportV2", PrepareWhole<&RunExport>),
      WholeTensorKernel("LookupTableSize", PrepareScalar<&RunTableSize>),
      WholeTensorKernel("LookupTableSizeV2", PrepareScalar<&RunTableSize>),
  };
  return specs;
}

}  // namespace tenon::cpu

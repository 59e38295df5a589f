// oneDNN behind status codes: its engine, its exceptions, executions with memory objects that are
// kept, and constant weights packed into its layouts.
#include "plugin/cpu/onednn/onednn.h"

#include <dnnl_debug.h>

#include <mutex>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/onednn/onednn_loader.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

absl::Status FromDnnl(const dnnl::error& e) {
  const std::string text = absl::StrCat("oneDNN: ", e.message);
  if (e.status == dnnl_unimplemented) return absl::UnimplementedError(text);
  if (e.status == dnnl_out_of_memory) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

// CPU streams hold no state: one serves all threads. Neither is ever destroyed, since kernels may
// outlive static objects.
const dnnl::stream& Stream() {
  static const dnnl::stream* const stream = new dnnl::stream(OneDnnEngine());
  return *stream;
}

// The counts of OneDnnPrimitives().
class Census {
 public:
  static Census& Get() {
    static Census* const census = new Census;
    return *census;
  }
  // Inside Guarded().
  void Count(const dnnl::primitive& primitive) {
    const_dnnl_primitive_desc_t desc = primitive.get_primitive_desc();
    const char* implementation = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0,
                              static_cast<void*>(&implementation));
    std::string name = absl::StrCat(dnnl_prim_kind2str(dnnl::convert_to_c(primitive.get_kind())),
                                    " ", implementation);
    const std::lock_guard lock(mutex_);
    ++counts_[std::move(name)];
  }
  std::map<std::string, int64_t> counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int64_t> counts_;
};

}  // namespace

absl::Status Guarded(absl::FunctionRef<absl::Status()> f) {
  TENON_RETURN_IF_ERROR(EnsureOneDnn());
  const OneOpenMpThread one_thread;
  try {
    return f();
  } catch (const dnnl::error& e) {
    return FromDnnl(e);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory to prepare a oneDNN primitive");
  }
}

const dnnl::engine& OneDnnEngine() {
  static const dnnl::engine* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

std::optional<dnnl::memory::data_type> OneDnnType(DataType t) {
  if (t == DataType::kFloat) return dnnl::memory::data_type::f32;
  // oneDNN has fast bfloat16 code for AVX-512 only.
  if (t == DataType::kBfloat16 && CpuIsa() == Isa::kAvx512) return dnnl::memory::data_type::bf16;
  return std::nullopt;
}

bool ComputesBfloat16() {
  // TENON_ISA limits oneDNN to AVX-512 as it first was.
  return CpuIsa() == Isa::kAvx512 && !IsaIsLimited() && __builtin_cpu_supports("avx512bf16");
}

bool IsReference(const char* impl_info) { return absl::StartsWith(impl_info, "ref"); }

bool CopiesWindows(const char* impl_info) { return absl::StartsWith(impl_info, "x64:gemm"); }

dnnl::primitive_attr UserScratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// Memory objects hold the pointers of one execution: each execution that runs at the same time
// needs its own.
struct OneDnnRunner::Context {
  std::vector<dnnl::memory> memories;
  std::vector<void*> pointers;
  std::vector<dnnl_exec_arg_t> args;
};

OneDnnRunner::OneDnnRunner(const dnnl::primitive& primitive, std::vector<Arg> args,
                           const MemoryDesc& scratchpad)
    : primitive_(primitive), args_(std::move(args)), scratch_bytes_(scratchpad.get_size()) {
  if (scratch_bytes_ > 0) args_.push_back({DNNL_ARG_SCRATCHPAD, scratchpad});
  // The first context and the stream are made now: the first run then allocates nothing, and errors
  // of oneDNN become a status in Guarded().
  Return(Take());
  Stream();
  Census::Get().Count(primitive);
}

OneDnnRunner::~OneDnnRunner() {
  for (std::atomic<Context*>& slot : kept_) delete slot.load(std::memory_order_acquire);
}

// Each thread begins its search at a place of its own: it mostly finds the context that it had
// before, with the same pointers, and meets no other thread.
unsigned OneDnnRunner::FirstPlace() {
  static std::atomic<unsigned> next{0};
  static thread_local const unsigned place = next.fetch_add(1, std::memory_order_relaxed);
  return place;
}

OneDnnRunner::Context* OneDnnRunner::Take() const {
  const unsigned first = FirstPlace();
  for (unsigned i = 0; i < kKept; ++i) {
    std::atomic<Context*>& slot = kept_[(first + i) % kKept];
    // A plain look first: an exchange writes the cache line even where the slot is empty.
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (Context* context = slot.exchange(nullptr, std::memory_order_acquire)) return context;
  }
  auto context = std::make_unique<Context>();
  for (const Arg& arg : args_) {
    // Without a buffer: Run sets the pointers.
    context->memories.emplace_back(arg.desc, OneDnnEngine(), nullptr);
    context->args.push_back({arg.kind, context->memories.back().get()});
  }
  context->pointers.resize(args_.size());
  return context.release();
}

void OneDnnRunner::Return(Context* context) const {
  const unsigned first = FirstPlace();
  for (unsigned i = 0; i < kKept; ++i) {
    std::atomic<Context*>& slot = kept_[(first + i) % kKept];
    Context* empty = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(empty, context, std::memory_order_release))
      return;
  }
  // All slots are full: more than kKept executions ran at once.
  delete context;
}

absl::Status OneDnnRunner::Run(absl::Span<void* const> pointers, void* scratch) const {
  const OneOpenMpThread one_thread;
  Context* context;
  try {
    context = Take();
  } catch (const std::exception&) {
    return absl::ResourceExhaustedError("no memory for another execution of a oneDNN primitive");
  }
  // A plan usually runs with the same buffers: setting an unchanged handle would be wasted time.
  const auto set = [&](size_t i, void* pointer) {
    if (context->pointers[i] == pointer) return;
    context->pointers[i] = pointer;
    // The C functions report errors by status. The C++ wrappers would throw.
    dnnl_memory_set_data_handle_v2(context->args[i].memory, pointer, nullptr);
  };
  for (size_t i = 0; i < pointers.size(); ++i) set(i, pointers[i]);
  if (scratch_bytes_ > 0) set(pointers.size(), scratch);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), Stream().get(),
                             static_cast<int>(context->args.size()), context->args.data());
  Return(context);
  if (status != dnnl_success)
    return absl::InternalError(
        absl::StrCat("oneDNN could not execute a primitive: status ", status));
  return absl::OkStatus();
}

void Reorder(const MemoryDesc& from_desc, const void* from, const MemoryDesc& to_desc, void* to) {
  dnnl::memory source(from_desc, OneDnnEngine(), const_cast<void*>(from));
  dnnl::memory target(to_desc, OneDnnEngine(), to);
  dnnl::stream stream(OneDnnEngine());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

// A buffer takes huge pages where it is large: packing touches every page, and a run streams
// through them.
PackedBytes::PackedBytes(size_t n) : buffer_(BufferRef::Adopt(Buffer::Allocate(n))) {
  data = buffer_ ? buffer_->data() : nullptr;
}

std::shared_ptr<PackedBytes> PackedBytes::Make(size_t bytes) {
  auto made = std::make_shared<PackedBytes>(bytes);
  return made->data == nullptr ? nullptr : made;
}

absl::StatusOr<std::shared_ptr<const PackedBytes>> PackConstant(Prepare& p, int i, size_t offset,
                                                                const MemoryDesc& from,
                                                                const MemoryDesc& to) {
  const char* constant = static_cast<const char*>(p.input_value(i)->data());
  // The session shares a packed copy among all kernels that ask for this constant in this layout.
  // The key must therefore tell apart everything that the copied bytes depend on.
  const std::string key = absl::StrCat("onednn@", offset, ":", LayoutKey(from), ">", LayoutKey(to));
  std::shared_ptr<const void> packed =
      p.session().GetPacked(constant, key, [&]() -> std::shared_ptr<const void> {
        const auto bytes = PackedBytes::Make(to.get_size());
        if (bytes != nullptr) Reorder(from, constant + offset, to, bytes->data);
        return bytes;
      });
  if (packed == nullptr)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for packed weights of ", to.get_size(), " bytes"));
  return std::static_pointer_cast<const PackedBytes>(packed);
}

std::map<std::string, int64_t> OneDnnPrimitives() { return Census::Get().counts(); }

// Parts of the key: type, format and extra flags, then sizes with padded sizes (d), strides (s) and
// inner blocks (b).
std::string LayoutKey(const MemoryDesc& desc) {
  const dnnl_memory_desc_t& d = desc.data;
  std::string key = absl::StrCat(d.data_type, "f", d.format_kind, "x", d.extra.flags, ",",
                                 d.extra.compensation_mask);
  for (int i = 0; i < d.ndims; ++i)
    absl::StrAppend(&key, i == 0 ? "d" : ",", d.dims[i], "/", d.padded_dims[i]);
  if (d.format_kind != dnnl_blocked) return key;
  const dnnl_blocking_desc_t& b = d.format_desc.blocking;
  for (int i = 0; i < d.ndims; ++i) absl::StrAppend(&key, i == 0 ? "s" : ",", b.strides[i]);
  for (int i = 0; i < b.inner_nblks; ++i)
    absl::StrAppend(&key, i == 0 ? "b" : ",", b.inner_idxs[i], "*", b.inner_blks[i]);
  return key;
}

}  // namespace tenon::cpu

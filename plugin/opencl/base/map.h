// Elementwise kernels from a piece of OpenCL C: the door for all ops that compute each element by
// itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call.h"
#include "launch.h"

namespace opencl {

// `body`: statements that set r, the element of the result, such as "r = x0 + x1;". The body is one
// line and has no // comment: it becomes a macro. The statements may read
//   x0, x1, ...   the elements of the inputs. X0_C, X1_C, ... are their types in a kernel, O_C is
//                 that of r (types.cc): float for half and bfloat16, int for bool and for integers
//                 below 32 bits, else the type of the elements
//   i             the number of the element in `out`, row by row
//   n0, n1, ...   `numbers`, as longs. What differs from call to call stands here and not in the
//                 text, which would be compiled again
// With a `report`, the body may call Report(errors, number, value). `errors` and `number` are names
// that the kernel has: write them as they stand. `value` is any long. The run then fails with
// INVALID_ARGUMENT and the text of `report`, in which "%lld" stands for the value.
struct MapBody {
  std::string body;
  std::string report = {};
  std::vector<int64_t> numbers = {};
};

// How an input of a map is read.
enum class Way { kRow, kScalar, kLoop };

// What of a call decides the kernel's text.
struct MapVariant {
  std::vector<Way> ways;
  bool loops = false;  // some input needs the loop
  bool rows = false;
  bool wide = false;  // positions need 64 bits
  int steps = 1;
};

// Queues the kernel: out[i] = body(inputs at position i of `loop`). loop.strides has an entry for
// each input, loop.dims cover the elements of `out` in order. `out` may be the memory of an input
// that the loop reads in the order of `out`, and of no other. Does nothing for an empty `out`.
void RunMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
            Loop loop);

// The elements of a map as a kernel of rows takes them, which goes on with each at once. After
// Prologue() a kernel file has
//   MAPPED                    nothing; that there is a map
//   MAP_ARGUMENTS, MAP_LOOP   arguments at the begin and the end of the kernel's list; both hold
//                             their commas
//   MAP_OPENS                 statements before the first element
//   MAP_ELEMENT(at, to)       a statement that sets `to` to element `at` of row `row`, a ulong, of
//                             rows of `length` elements; `to` has the computed type
class MapRows {
 public:
  // `elements` has the type and the shape of the results; the inputs broadcast to that shape. A row
  // is the last `row_dims` dimensions. The body has no report and no numbers, and must outlive the
  // object.
  MapRows(Device& device, const MapBody& body, std::vector<Tensor> inputs, const Tensor& elements,
          size_t row_dims);

  // False if an input does not go through a row with one step: no other function is called then.
  bool fits() const { return fits_; }
  int64_t rows() const { return elements_.count / length_; }
  int64_t length() const { return length_; }
  const Tensor& elements() const { return elements_; }  // type and shape alone

  void AddTo(KernelKey* key) const;
  std::string Prologue() const;
  void AddInputs(Launch* launch) const;  // MAP_ARGUMENTS
  void AddLoop(Launch* launch) const;    // MAP_LOOP

 private:
  const MapBody& body_;
  const std::vector<Tensor> inputs_;
  const Tensor elements_;
  int64_t length_ = 1;
  Loop loop_;
  MapVariant variant_;
  bool fits_ = true;
};

// Fills `target` with the result of `expression`, OpenCL C of the tensor's type.
void FillWith(Call& call, const Tensor& target, const std::string& expression);

// RunMap over the loop in which the inputs broadcast to out.dims, as they must (Broadcast, dims.h).
void RunBroadcastMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs,
                     const Tensor& out);

}  // namespace opencl

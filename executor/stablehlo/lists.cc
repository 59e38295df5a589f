// TensorLists of a fixed size, as loops of recurrent layers use them: one tensor with the elements
// behind each other.
#include <optional>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace lists_ops {
namespace {

absl::StatusOr<const ListValue*> ListOf(Op& op) {
  const ListValue* list = op.InEntry(0).list.get();
  if (list == nullptr) return op.Unimplemented("the list comes from outside of the program");
  return list;
}

Shape ElementShape(const Value& elements) { return Shape(elements.shape.dims().subspan(1)); }

Shape ListShape(int64_t size, const Shape& element) {
  Shape shape({size});
  for (const int64_t dim : element.dims()) shape.push_back(dim);
  return shape;
}

// The shape that an input gives for the elements, if it gives all of it.
std::optional<Shape> GivenShape(Op& op, int input) {
  const absl::StatusOr<Ints> ints = op.IntsOf(input);
  if (!ints.ok() || op.InRank(input) == 0) return std::nullopt;
  for (const int64_t dim : *ints) {
    if (dim < 0) return std::nullopt;
  }
  return Shape(*ints);
}

// What input 0 says of the shape of the elements: a scalar says nothing.
absl::StatusOr<PartialShape> DeclaredElement(Op& op) {
  if (op.InRank(0) == 0) return PartialShape();
  TENON_ASSIGN_OR_RETURN(const Ints ints, op.IntsOf(0));
  return PartialShape::Make(ints);
}

absl::Status CheckElement(Op& op, const ListValue& list, const Shape& item) {
  if (list.element.CompatibleWith(item)) return absl::OkStatus();
  return op.Invalid(absl::StrCat("an element of shape ", item.ToString(),
                                 " does not fit a list of shape ", list.element.ToString()));
}

absl::Status Reserve(Op& op) {
  ListValue list;
  TENON_ASSIGN_OR_RETURN(list.dtype, op.shapes().AttrType("element_dtype"));
  TENON_ASSIGN_OR_RETURN(list.element, DeclaredElement(op));
  TENON_ASSIGN_OR_RETURN(list.size, op.IntOf(1));
  if (list.size < 0) return op.Invalid("the number of elements must not be negative");
  if (ElementName(list.dtype).empty()) return op.Unimplemented("a list of this type");
  if (const std::optional<Shape> shape = GivenShape(op, 0))
    list.elements = op.b.Full(list.dtype, ListShape(list.size, *shape), 0);
  op.OutList(std::move(list));
  return absl::OkStatus();
}

absl::Status FromTensor(Op& op) {
  const Value& x = op.In(0);
  op.OutList({.dtype = x.dtype, .size = x.shape.dim(0), .elements = x});
  return absl::OkStatus();
}

Values StartsAt(Op& op, const Value& index, int rank) {
  Values starts = {index};
  for (int i = 1; i < rank; ++i) starts.push_back(op.b.ScalarInt(index.dtype, 0));
  return starts;
}

void CheckIndex(Op& op, const Value& index, int64_t size) {
  op.Check(op.b.And(op.b.Compare("GE", index, 0.0),
                    op.b.Compare("LT", index, static_cast<double>(size))),
           absl::StrCat("an index is not in the list of ", size, " elements"));
}

absl::Status GetItem(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  const Value& index = op.In(1);
  CheckIndex(op, index, list->size);
  if (!list->elements) {
    const std::optional<Shape> shape = GivenShape(op, 2);
    if (!shape) return op.Unimplemented("the shape of the list's elements is not known");
    return op.Out(op.b.Full(list->dtype, *shape, 0));
  }
  const Shape element = ElementShape(list->elements);
  const Value slice = op.b.DynamicSlice(list->elements, StartsAt(op, index, list->elements.rank()),
                                        ListShape(1, element).dims());
  return op.Out(op.b.Reshape(slice, element));
}

absl::Status SetItem(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  const Value &index = op.In(1), &item = op.In(2);
  bool grows = false;
  if (op.shapes().HasAttr("resize_if_index_out_of_bounds")) {
    TENON_ASSIGN_OR_RETURN(grows, op.Bool("resize_if_index_out_of_bounds"));
  }
  if (grows) return op.Unimplemented("a list that grows");
  TENON_RETURN_IF_ERROR(CheckElement(op, *list, item.shape));
  CheckIndex(op, index, list->size);
  ListValue set = *list;
  set.each = Tensor();
  if (!set.elements) set.elements = op.b.Full(set.dtype, ListShape(set.size, item.shape), 0);
  if (ElementShape(set.elements) != item.shape)
    return op.Unimplemented("elements of different shapes");
  set.elements = op.b.DynamicUpdate(set.elements, op.b.Reshape(item, ListShape(1, item.shape)),
                                    StartsAt(op, index, set.elements.rank()));
  op.OutList(std::move(set));
  return absl::OkStatus();
}

absl::Status Stack(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  if (list->count) return op.Unimplemented("a list of unknown length");
  if (list->elements) return op.Out(list->elements);
  const std::optional<Shape> shape = GivenShape(op, 1);
  if (!shape) return op.Unimplemented("the shape of the list's elements is not known");
  return op.Out(op.b.Full(list->dtype, ListShape(list->size, *shape), 0));
}

// The elements of a list that is whole, of which there must be some.
absl::StatusOr<Value> ElementsOf(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  if (list->count) return op.Unimplemented("a list of unknown length");
  if (!list->elements || list->size == 0)
    return op.Unimplemented("the shape of the list's elements is not known");
  return list->elements;
}

absl::Status GatherItems(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value elements, ElementsOf(op));
  const Value& indices = op.In(1);
  const auto size = static_cast<double>(elements.shape.dim(0));
  op.CheckAll(op.b.And(op.b.Compare("GE", indices, 0.0), op.b.Compare("LT", indices, size)),
              absl::StrCat("an index is not in the list of ", elements.shape.dim(0), " elements"));
  return op.Out(GatherAxis(op, elements, 0, indices));
}

// The elements behind each other along their first axis, and the length of each there.
absl::Status ConcatItems(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value elements, ElementsOf(op));
  if (elements.rank() < 2) return op.Invalid("elements of a list that is joined need an axis");
  const int64_t size = elements.shape.dim(0), length = elements.shape.dim(1);
  Shape joined({size * length});
  for (int i = 2; i < elements.rank(); ++i) joined.push_back(elements.shape.dim(i));
  op.Out(0, op.b.Reshape(elements, joined));
  return op.OutInts(1, Ints(size, length), Shape({size}));
}

absl::Status Empty(Op& op) {
  ListValue list;
  TENON_ASSIGN_OR_RETURN(list.dtype, op.shapes().AttrType("element_dtype"));
  TENON_ASSIGN_OR_RETURN(list.element, DeclaredElement(op));
  if (ElementName(list.dtype).empty()) return op.Unimplemented("a list of this type");
  op.OutList(std::move(list));
  return absl::OkStatus();
}

absl::Status PushBack(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  const Value& item = op.In(1);
  TENON_RETURN_IF_ERROR(CheckElement(op, *list, item.shape));
  ListValue pushed = *list;
  const Tensor* known = op.Known(1);
  const bool is_first = !list->count && list->size == 0;
  pushed.each =
      known != nullptr && (is_first || SameElements(list->each, *known)) ? *known : Tensor();
  const Value row = op.b.Reshape(item, ListShape(1, item.shape));
  if (list->elements && ElementShape(list->elements) != item.shape)
    return op.Unimplemented("elements of different shapes");
  if (list->count) {
    pushed.elements =
        op.b.DynamicUpdate(list->elements, row, StartsAt(op, list->count, list->elements.rank()));
    pushed.count = op.b.Add(list->count, 1.0);
  } else {
    pushed.elements = list->elements ? op.b.Concat({list->elements, row}, 0) : row;
    pushed.size = list->size + 1;
  }
  op.OutList(std::move(pushed));
  return absl::OkStatus();
}

absl::Status PopBack(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  ListValue popped = *list;
  if (!list->elements || list->size == 0) return op.Invalid("the list is empty");
  const Shape element = ElementShape(list->elements);
  Value row;
  if (list->count) {
    popped.count = op.b.Sub(list->count, 1.0);
    op.Check(op.b.Compare("GE", popped.count, 0.0), "Trying to pop from an empty list");
    row = op.b.DynamicSlice(list->elements, StartsAt(op, popped.count, list->elements.rank()),
                            ListShape(1, element).dims());
  } else {
    row = op.b.SliceAxis(list->elements, 0, list->size - 1, list->size);
    popped.size = list->size - 1;
    popped.elements = op.b.SliceAxis(list->elements, 0, 0, popped.size);
  }
  if (list->each.initialized()) {
    SetKnown(op.OutEntry(1), list->each);
  } else {
    op.Out(1, op.b.Reshape(row, element));
  }
  op.OutList(std::move(popped));
  return absl::OkStatus();
}

// The sum of lists, element by element. A list without elements adds nothing.
absl::Status AddLists(Op& op) {
  ListValue sum;
  for (int i = 0; i < op.num_inputs(); ++i) {
    const ListValue* list = op.InEntry(i).list.get();
    if (list == nullptr) return op.Unimplemented("a variant that is no list of the program");
    if (!sum.elements) {
      sum = *list;
    } else if (list->elements) {
      if (list->elements.shape != sum.elements.shape || list->count || sum.count)
        return op.Unimplemented("a sum of lists of different sizes");
      sum.elements = op.b.Add(sum.elements, list->elements);
    }
    sum.each = Tensor();
  }
  op.OutList(std::move(sum));
  return absl::OkStatus();
}

absl::Status ZeroList(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  ListValue zeros = *list;
  zeros.each = Tensor();
  if (zeros.elements) zeros.elements = op.b.Like(zeros.elements, 0);
  op.OutList(std::move(zeros));
  return absl::OkStatus();
}

absl::Status Length(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  if (list->count) return op.Out(list->count);
  return op.OutInts(0, {list->size}, Shape());
}

absl::Status ShapeOfElements(Op& op) {
  TENON_ASSIGN_OR_RETURN(const ListValue* list, ListOf(op));
  if (!list->elements) return op.Unimplemented("the shape of the list's elements is not known");
  const Shape element = ElementShape(list->elements);
  return op.OutInts(0, element.dims(), Shape({element.rank()}));
}

constexpr Types kItems = kAll | kVariants;

constexpr Row kRows[] = {
    {"TensorListReserve", Reserve, kItems, In(0) | In(1)},
    {"TensorListFromTensor", FromTensor, kItems, In(1)},
    {"TensorListGetItem", GetItem, kItems, In(2)},
    {"TensorListSetItem", SetItem, kItems},
    {"TensorListStack", Stack, kItems, In(1)},
    {"TensorListGather", GatherItems, kItems, In(2)},
    {"TensorListConcat", ConcatItems, kItems},
    {"TensorListConcatV2", ConcatItems, kItems, In(1) | In(2)},
    {"TensorListLength", Length, kItems},
    {"TensorListElementShape", ShapeOfElements, kItems},
    {"EmptyTensorList", Empty, kItems, In(0) | In(1)},
    {"TensorListPushBack", PushBack, kItems},
    {"TensorListPopBack", PopBack, kItems, In(1)},
};

}  // namespace
}  // namespace lists_ops

absl::Status SumOfLists(Op& op) { return lists_ops::AddLists(op); }
absl::Status ZerosLikeList(Op& op) { return lists_ops::ZeroList(op); }

Rows ListRows() { return lists_ops::kRows; }

}  // namespace tenon::stablehlo

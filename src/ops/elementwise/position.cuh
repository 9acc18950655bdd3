// From an element's number in a space to its position, and to the operand's address there.
#pragma once

#include "ops/elementwise/arguments.hpp"
#include "ops/noop/device.cuh"
#include "ops/pointwise/place.cuh"

namespace megakittens::ops::elementwise {

MK_DEVICE Lanes<uint32_t> divide(Lanes<uint32_t> x, const Division& by) {
  return device::convert<uint32_t>((device::convert<uint64_t>(x) * uint64_t{by.magic}) >> by.shift);
}

/// The record's space, read from memory where it is needed: registers are scarcer.
struct RecordSpace {
  const program::NodeRecord* record;

  template <class B>
  MK_DEVICE explicit RecordSpace(const device::Context<B>& c) : record(c.launch.records + c.word(program::kWordNode)) {}
  MK_DEVICE uint32_t parameter(uint32_t i) const {
    return static_cast<uint32_t>(device::constant(&record->parameters[i]));
  }
  MK_DEVICE Division division(uint32_t i) const {
    return {parameter(kColumnsMagic + i), parameter(kShifts) >> (8 * i) & 0xff};
  }
  /// There is more than one matrix of the last two dimensions.
  MK_DEVICE bool deep() const {
    return device::constant(&record->extents[0]) != 1 || device::constant(&record->extents[1]) != 1;
  }
};

/// The columns that the instruction's rows have: all of the space's, or a rectangle's.
struct Columns {
  uint32_t left;
  uint32_t width;
  uint32_t lead;  ///< columns before the first element in its row
  Division by;

  template <class B>
  MK_DEVICE Columns(const device::Context<B>& c, const RecordSpace& space) {
    width = static_cast<uint32_t>(c.index(kWidth));
    const uint32_t first = static_cast<uint32_t>(c.index(kFirstColumn));
    const bool rectangle = width != 0;
    left = rectangle ? first : 0;
    lead = rectangle ? 0 : first;
    by = rectangle ? Division{static_cast<uint32_t>(c.index(kWidthMagic)), static_cast<uint32_t>(c.index(kWidthShift))}
                   : space.division(0);
    if (!rectangle) width = space.parameter(kColumns);
  }
};

/// Position in the space; `outer` counts only where the space is deep.
struct Position {
  Lanes<uint32_t> outer[2];
  Lanes<uint32_t> row;
  Lanes<uint32_t> column;

  /// Of the instruction's element number `e`.
  template <class B>
  MK_DEVICE Position(const device::Context<B>& c, const RecordSpace& space, Lanes<uint32_t> e) {
    const Columns columns(c, space);
    const Lanes<uint32_t> x = e + columns.lead;
    const Lanes<uint32_t> rows_on = divide(x, columns.by);
    column = x - rows_on * columns.width + columns.left;
    row = rows_on + static_cast<uint32_t>(c.index(kFirstRow));
    outer[0] = outer[1] = 0u;
    if (!space.deep()) return;
    const Lanes<uint32_t> matrices_on = divide(row, space.division(1));
    row = row - matrices_on * space.parameter(kRows);
    outer[1] = matrices_on + static_cast<uint32_t>(c.index(kFirst1));
    const Lanes<uint32_t> groups_on = divide(outer[1], space.division(2));
    outer[1] = outer[1] - groups_on * space.parameter(kSecond);
    outer[0] = groups_on + static_cast<uint32_t>(c.index(kFirst0));
  }
};

/// An operand's base and byte strides, outermost first.
struct Strided {
  char* base;
  int64_t strides[4];
  uint32_t type;

  template <class B>
  MK_DEVICE Strided(const device::Context<B>& c, const RecordSpace& space, uint32_t k) {
    const device::OperandWindow window = c.window(k);
    base = window.base;
    type = window.type;
    const int64_t size = element_size(type);
    MK_UNROLL for (uint32_t d = 0; d < 2; ++d) strides[d] =
        device::constant(&space.record->operands[k].strides[d]) * size;
    strides[2] = window.row_bytes;
    strides[3] = window.column_bytes;
  }
  MK_DEVICE Lanes<uint64_t> offset(const RecordSpace& space, const Position& at) const {
    Lanes<int64_t> sum =
        device::convert<int64_t>(at.row) * strides[2] + device::convert<int64_t>(at.column) * strides[3];
    if (space.deep())
      sum = sum +
            (device::convert<int64_t>(at.outer[0]) * strides[0] + device::convert<int64_t>(at.outer[1]) * strides[1]);
    return device::bit_cast<uint64_t>(sum);
  }
};

/// Goes from an element to the next in the space's order.
struct Walk {
  Lanes<int64_t> offset;  ///< bytes from the operand's base
  Position at;
  Columns columns;
  int64_t step, to_row, to_matrix, to_group;  ///< bytes, each besides the ones before it
  uint32_t rows, second;
  bool deep;

  template <class B>
  MK_DEVICE Walk(const device::Context<B>& c, const RecordSpace& space, const Strided& operand, Lanes<uint32_t> e)
      : at(c, space, e), columns(c, space) {
    const int64_t* s = operand.strides;
    rows = space.parameter(kRows);
    second = space.parameter(kSecond);
    deep = space.deep();
    step = s[3];
    to_row = s[2] - int64_t{columns.width} * s[3];
    to_matrix = s[1] - int64_t{rows} * s[2];
    to_group = s[0] - int64_t{second} * s[1];
    offset = device::bit_cast<int64_t>(operand.offset(space, at));
  }
  /// Of a run of one element: every step stays.
  MK_DEVICE void stand() {
    step = 0;
    to_row = 0;
    deep = false;
  }
  /// The element's offset.
  MK_DEVICE Lanes<uint64_t> next() {
    const Lanes<uint64_t> here = device::bit_cast<uint64_t>(offset);
    offset = offset + step;
    at.column = at.column + 1u;
    const Lanes<bool> row_ends = at.column == columns.left + columns.width;
    offset = device::select(row_ends, offset + to_row, offset);
    at.column = device::select(row_ends, Lanes<uint32_t>(columns.left), at.column);
    if (!deep) return here;
    at.row = device::select(row_ends, at.row + 1u, at.row);
    const Lanes<bool> matrix_ends = at.row == rows;
    offset = device::select(matrix_ends, offset + to_matrix, offset);
    at.row = device::select(matrix_ends, Lanes<uint32_t>(0u), at.row);
    at.outer[1] = device::select(matrix_ends, at.outer[1] + 1u, at.outer[1]);
    const Lanes<bool> group_ends = at.outer[1] == second;
    offset = device::select(group_ends, offset + to_group, offset);
    at.outer[1] = device::select(group_ends, Lanes<uint32_t>(0u), at.outer[1]);
    return here;
  }
};

}  // namespace megakittens::ops::elementwise

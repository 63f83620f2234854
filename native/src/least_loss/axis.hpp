// What the cell of a group of rows costs in one attribute, in whole numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "class_sizes.hpp"

namespace kohorte {

using Cost = std::int64_t;

// What a group costs in an attribute. There are four kinds of cells; the first three cost each row of the group the same:
// - span: the interval from the lowest to the highest position: `second[highest] - first[lowest]`;
// - set: the positions that occur: the sum of `second[position]` over them, less `first[0]`, and never below 0;
// - tree: the group of the lowest level that covers all positions: `costs[level][position]` of any of them;
// - mix: how mixed the group is: `second[rows]`, less the sum of `second[rows at the position]` over all positions.
// The position `missing` (or none, if it is the length) adds nothing to a span or a set.
struct Axis {
  enum Kind : std::uint8_t { kSpan, kSet, kTree, kMix };
  static constexpr Code kNone = std::numeric_limits<Code>::max();

  Kind kind = kSpan;
  Code missing = 0;
  std::vector<Cost> first;
  std::vector<Cost> second;
  std::vector<std::vector<Code>> groups;
  std::vector<std::vector<Cost>> costs;

  std::size_t length() const { return first.size(); }
  bool counts() const { return kind == kSet || kind == kMix; }

  void check() const {
    const bool tree = kind == kTree;
    if (kind > kMix || length() == 0 || missing > length() || (kind != kMix && second.size() != length())) {
      throw std::invalid_argument("an attribute without positions or with wrong costs");
    }
    if (groups.size() != costs.size() || tree != !groups.empty()) throw std::invalid_argument("levels without costs");
    for (std::size_t level = 0; level < groups.size(); ++level) {
      if (groups[level].size() != length() || costs[level].size() != length()) {
        throw std::invalid_argument("a level of another length");
      }
    }
    if (tree && !std::all_of(groups.back().begin(), groups.back().end(),
                             [this](Code group) { return group == groups.back().front(); })) {
      throw std::invalid_argument("no level covers everything");
    }
  }

  // The cost of the interval or of the group from the lowest to the highest position; nothing if there is none.
  Cost between(Code low, Code high) const {
    if (low == kNone) return 0;
    if (kind == kSpan) return second[high] - first[low];
    std::size_t level = 0;
    while (groups[level][low] != groups[level][high]) ++level;
    return costs[level][low];
  }

  Cost of_set(Cost sum) const { return std::max<Cost>(0, sum - first[0]); }
};

// The rows of a table: their positions, attribute by attribute, and what a group of them must have: at least `least`
// rows, and at least `needs[r]` different numbers among `marks[r]`. With `fixed`, rows may only change places with rows
// of the same number.
struct Grouped {
  std::vector<Code> places;
  std::vector<Axis> axes;
  Count least = 1;
  std::vector<std::vector<Code>> marks;
  std::vector<Count> needs;
  std::vector<Code> fixed;
  Cost left_out = 0;  // what a row costs that is in no group

  std::size_t width() const { return axes.size(); }
  std::size_t rows() const { return axes.empty() ? 0 : places.size() / axes.size(); }
  const Code* row(std::size_t number) const { return places.data() + number * width(); }

  void check() const {
    if (axes.empty() || places.size() % axes.size() != 0 || least < 1 || marks.size() != needs.size()) {
      throw std::invalid_argument("places, attributes and needs do not fit together");
    }
    for (const Axis& axis : axes) {
      axis.check();
      if (axis.kind == Axis::kMix && axis.second.size() <= rows()) throw std::invalid_argument("too few costs of a mix");
    }
    for (std::size_t index = 0; index < places.size(); ++index) {
      if (places[index] >= axes[index % width()].length()) throw std::invalid_argument("a place beyond its line");
    }
    for (const auto& mark : marks) {
      if (mark.size() != rows()) throw std::invalid_argument("not one mark for each row");
    }
    if (!fixed.empty() && fixed.size() != rows()) throw std::invalid_argument("not one fixed number for each row");
  }
};

// Numbers that look random and are the same on every machine: SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }

 private:
  std::uint64_t state_;
};

}  // namespace kohorte

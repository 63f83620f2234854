// Counts how often each value of an attribute occurs in every group of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "grouping.hpp"

namespace kohorte {

// Classes of rows, and the values of one attribute in each class.
struct Cells {
  std::vector<Code> representatives;  // the first row of every class
  std::vector<Count> sizes;           // the summed weights of every class
  std::vector<Count> starts;          // where the values of every class start, and the end of the last
  std::vector<Code> values;           // the different values of a class, in the order in which they appear
  std::vector<Count> counts;          // the summed weights of each
  std::vector<Code> first;            // the first row of each
};

namespace cells {

inline constexpr std::size_t kFewValues = 64;

// Where each group starts when rows are sorted by group.
inline std::vector<Code> starts_of(std::span<const Code> ids, std::size_t groups) {
  std::vector<Code> starts(groups + 1, 0);
  for (Code id : ids) ++starts[id + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// For few values: there are far fewer cells than rows. Rows are grouped into cells, then cells into groups.
inline Cells by_key(Grouper& grouper, const Rows& rows, std::span<const Count> weights,
                    std::span<const std::uint32_t> levels, std::size_t attribute) {
  std::vector<std::uint32_t> finer(levels.begin(), levels.end());
  finer[attribute] = 0;
  const Grouping found = grouper.group(rows, weights, finer, false);
  const Rows firsts = rows.take(found.representatives);
  Grouping groups = grouper.group(firsts, found.sizes, levels, true);
  const std::vector<Code> values = grouper.values(firsts, attribute);
  std::vector<Code> next = starts_of(groups.ids, groups.sizes.size());
  Cells result;
  result.starts.assign(next.begin(), next.end());
  result.values.resize(values.size());
  result.counts.resize(values.size());
  result.first.resize(values.size());
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    const Code place = next[groups.ids[cell]]++;
    result.values[place] = values[cell];
    result.counts[place] = found.sizes[cell];
    result.first[place] = found.representatives[cell];
  }
  for (Code cell : groups.representatives) result.representatives.push_back(found.representatives[cell]);
  result.sizes = std::move(groups.sizes);
  return result;
}

// All that is needed to count a row in its group, stored together.
struct Entry {
  Count weight;
  Code row;
  Code group;
  Code value;
};

// The rows, sorted by group.
inline std::vector<Entry> sorted(std::span<const Count> weights, const Grouping& groups,
                                 std::span<const Code> values) {
  std::vector<Code> next = starts_of(groups.ids, groups.sizes.size());
  std::vector<Entry> entries(values.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    const Code group = groups.ids[row];
    entries[next[group]++] = {weights[row], static_cast<Code>(row), group, values[row]};
  }
  return entries;
}

// For many values: rows are sorted by group, so that the counts of one group stay in the cache.
inline Cells by_sorting(Grouper& grouper, const Rows& rows, std::span<const Count> weights,
                        std::span<const std::uint32_t> levels, std::size_t attribute) {
  constexpr Code kNone = std::numeric_limits<Code>::max();
  Grouping groups = grouper.group(rows, weights, levels, true);
  Cells result;
  result.starts.assign(groups.sizes.size() + 1, 0);
  result.values.reserve(rows.size());
  result.counts.reserve(rows.size());
  result.first.reserve(rows.size());
  std::vector<std::pair<Code, Code>> seen(grouper.domain(attribute), {kNone, 0});  // the last group, and the cell there
  for (const Entry& entry : sorted(weights, groups, grouper.values(rows, attribute))) {
    auto& [last, cell] = seen[entry.value];
    if (last != entry.group) {
      last = entry.group;
      cell = static_cast<Code>(result.values.size());
      result.values.push_back(entry.value);
      result.counts.push_back(0);
      result.first.push_back(entry.row);
      ++result.starts[entry.group + std::size_t{1}];
    }
    result.counts[cell] += entry.weight;
  }
  std::partial_sum(result.starts.begin(), result.starts.end(), result.starts.begin());
  result.representatives = std::move(groups.representatives);
  result.sizes = std::move(groups.sizes);
  return result;
}

}  // namespace cells

// Groups rows as `Grouper::group` does and counts the values of `attribute` in each group; `attribute` must be at a
// level at which all its values are equal.
inline Cells count_cells(Grouper& grouper, const Rows& rows, std::span<const Count> weights,
                         std::span<const std::uint32_t> levels, std::size_t attribute) {
  if (attribute >= grouper.attributes()) throw std::invalid_argument("no such attribute");
  if (levels.size() != grouper.attributes()) throw std::invalid_argument("one level per attribute, please");
  return grouper.domain(attribute) <= cells::kFewValues ? cells::by_key(grouper, rows, weights, levels, attribute)
                                                        : cells::by_sorting(grouper, rows, weights, levels, attribute);
}

}  // namespace kohorte

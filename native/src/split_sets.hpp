// Tables recoded by sets of splits: the cost of a set, and its cost with one split more or less.
//
// The values of an attribute have an order; row r has the value at positions[r][a]. A split (a, p), p >= 1,
// separates the positions below p from the others. A set of splits cuts every attribute into intervals; rows in equal
// intervals are one class. Splits are numbered attribute by attribute. Adding splits only ever cuts classes apart, so
// the number of people in classes of fewer than k never falls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boxes.hpp"
#include "key_table.hpp"

namespace kohorte {

using SplitFlags = std::vector<std::uint8_t>;  // one per split

// The people of one class, or of a part of one.
struct Tally {
  Count people = 0;
  std::vector<Count> labels;

  void clear(std::size_t label_count) {
    people = 0;
    labels.assign(label_count, 0);
  }
};

class SplitSets {
 public:
  struct Result {
    Count cost = 0;
    Count suppressed = 0;
    Count kept_classes = 0;
  };

  // labels: rows x label_count. by_label: the cost is the number of people suppressed or not in the majority of their
  // class. Otherwise it is discernibility: the square of every kept class, and all people for each suppressed person.
  SplitSets(std::span<const Code> positions, std::span<const Count> weights, std::span<const Code> sizes,
            std::span<const Count> labels, std::size_t label_count, Count k, Count limit, bool by_label)
      : label_count_(by_label ? label_count : 0), k_(k), limit_(limit), by_label_(by_label) {
    check(positions, weights, sizes, labels, label_count);
    const std::size_t rows = weights.size();
    rows_.people.assign(weights.begin(), weights.end());
    if (by_label) rows_.labels.assign(labels.begin(), labels.end());
    for (std::size_t attribute = 0; attribute < sizes.size(); ++attribute) {
      auto& slots = rows_.slots.emplace_back(rows);
      for (std::size_t row = 0; row < rows; ++row) slots[row] = positions[row * sizes.size() + attribute];
      first_split_.push_back(attribute_of_.size());
      attribute_of_.insert(attribute_of_.end(), sizes[attribute] - std::size_t{1}, static_cast<Code>(attribute));
      sizes_.push_back(sizes[attribute]);
    }
  }

  std::size_t splits() const { return attribute_of_.size(); }
  std::size_t attributes() const { return sizes_.size(); }
  std::size_t label_count() const { return label_count_; }
  std::size_t size(std::size_t attribute) const { return sizes_[attribute]; }
  std::size_t attribute_of(std::size_t split) const { return attribute_of_[split]; }
  std::size_t first_split(std::size_t attribute) const { return first_split_[attribute]; }
  const Boxes& rows() const { return rows_; }
  Count all() const { return all_; }
  Count k() const { return k_; }
  Count limit() const { return limit_; }
  bool by_label() const { return by_label_; }

  // The cost of a class; `labels` are those of its people.
  Count class_cost(Count people, const Count* labels) const {
    if (people < k_) return by_label_ ? people : all_ * people;
    return by_label_ ? people - *std::max_element(labels, labels + label_count_) : people * people;
  }

  Count suppressed(Count people) const { return people < k_ ? people : 0; }

  Result result(std::span<const std::uint8_t> chosen) const {
    std::vector<Merging> mergings = mergings_of(chosen);
    BoxNumbers numbers;
    numbers.number(rows_, mergings);
    return result_of(classes_of(numbers, mergings));
  }

  Result result_of(const Boxes& classes) const {
    Result result;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      result.cost += class_cost(classes.people[i], classes.labels.data() + i * label_count_);
      result.suppressed += suppressed(classes.people[i]);
      result.kept_classes += classes.people[i] >= k_ ? 1 : 0;
    }
    return result;
  }

  // For each split, the cost and the suppressed people after adding it, or removing it if it is chosen.
  std::pair<std::vector<Count>, std::vector<Count>> neighbours(std::span<const std::uint8_t> chosen) const {
    const std::vector<Merging> mergings = mergings_of(chosen);
    BoxNumbers numbers;
    numbers.number(rows_, mergings);
    const Boxes classes = classes_of(numbers, mergings);
    const Result now = result_of(classes);
    std::vector<Count> costs(splits(), now.cost), gone(splits(), now.suppressed);
    add_each(numbers, mergings, classes, costs, gone);
    remove_each(mergings, classes, costs, gone);
    return {std::move(costs), std::move(gone)};
  }

 private:
  static constexpr Count kMostPeople = Count{1} << 53;
  static constexpr Count kMostPeopleSquared = 94'906'265;  // its square is below 2^53: costs are exact as doubles

  void check(std::span<const Code> positions, std::span<const Count> weights, std::span<const Code> sizes,
             std::span<const Count> labels, std::size_t label_count) {
    const std::size_t rows = weights.size(), attributes = sizes.size();
    if (rows == 0) throw std::invalid_argument("no rows");
    if (positions.size() != rows * attributes) throw std::invalid_argument("positions and weights differ in length");
    if (labels.size() != rows * label_count) throw std::invalid_argument("labels and weights differ in length");
    if (by_label_ && label_count == 0) throw std::invalid_argument("no labels");
    if (k_ < 1) throw std::invalid_argument("k must be at least 1");
    if (limit_ < 0) throw std::invalid_argument("a negative limit");
    if (std::ranges::any_of(sizes, [](Code size) { return size == 0; })) {
      throw std::invalid_argument("an attribute without values");
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (positions[i] >= sizes[i % attributes]) throw std::invalid_argument("a position that its attribute has not");
    }
    const Count most = by_label_ ? kMostPeople : kMostPeopleSquared;
    for (const Count weight : weights) {
      if (weight < 1) throw std::invalid_argument("a row of nobody");
      if (weight > most - all_) throw std::invalid_argument("too many people");
      all_ += weight;
    }
    for (std::size_t row = 0; by_label_ && row < rows; ++row) {
      Count left = weights[row];
      for (const Count count : labels.subspan(row * label_count, label_count)) {
        if (count < 0 || count > left) throw std::invalid_argument("labels that do not add up to the weight");
        left -= count;
      }
      if (left != 0) throw std::invalid_argument("labels that do not add up to the weight");
    }
  }

  std::vector<Merging> mergings_of(std::span<const std::uint8_t> chosen) const {
    if (chosen.size() != splits()) throw std::invalid_argument("not one flag per split");
    std::vector<Merging> mergings(attributes());
    for (std::size_t attribute = 0; attribute < attributes(); ++attribute) {
      const std::uint8_t* flags = chosen.data() + first_split_[attribute];
      mergings[attribute].reset(sizes_[attribute], [&](std::size_t cut) { return flags[cut] != 0; });
    }
    return mergings;
  }

  Boxes classes_of(const BoxNumbers& numbers, std::span<const Merging> mergings) const {
    Boxes classes;
    classes.slots.assign(attributes(), std::vector<Code>(numbers.count()));
    classes.people.assign(numbers.count(), 0);
    classes.labels.assign(numbers.count() * label_count_, 0);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const std::size_t id = numbers.ids()[row];
      classes.people[id] += rows_.people[row];
      for (std::size_t label = 0; label < label_count_; ++label) {
        classes.labels[id * label_count_ + label] += rows_.labels[row * label_count_ + label];
      }
    }
    for (std::size_t attribute = 0; attribute < attributes(); ++attribute) {
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        classes.slots[attribute][numbers.ids()[row]] = mergings[attribute].slots[rows_.slots[attribute][row]];
      }
    }
    return classes;
  }

  // Per class and attribute: counts people along the interval, then moves every position from right to left.
  void add_each(const BoxNumbers& numbers, std::span<const Merging> mergings, const Boxes& classes,
                std::vector<Count>& costs, std::vector<Count>& gone) const {
    std::vector<std::size_t> starts(classes.size() + 1, 0), order(rows_.size());
    for (const Code id : numbers.ids()) ++starts[id + std::size_t{1}];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t row = 0; row < rows_.size(); ++row) order[next[numbers.ids()[row]]++] = row;
    std::vector<Count> people, labels;
    Tally left, right;
    for (std::size_t attribute = 0; attribute < attributes(); ++attribute) {
      const Merging& merging = mergings[attribute];
      std::vector<std::size_t> bounds(merging.count + std::size_t{1}, 0);
      for (const Code slot : merging.slots) ++bounds[slot + std::size_t{1}];
      std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
      for (std::size_t id = 0; id < classes.size(); ++id) {
        const std::size_t slot = classes.slots[attribute][id], low = bounds[slot], length = bounds[slot + 1] - low;
        if (length < 2 || starts[id + 1] - starts[id] < 2) continue;
        people.assign(length, 0);
        labels.assign(length * label_count_, 0);
        for (std::size_t i = starts[id]; i < starts[id + 1]; ++i) {
          const std::size_t place = rows_.slots[attribute][order[i]] - low;
          people[place] += rows_.people[order[i]];
          for (std::size_t label = 0; label < label_count_; ++label) {
            labels[place * label_count_ + label] += rows_.labels[order[i] * label_count_ + label];
          }
        }
        const Count* own = classes.labels.data() + id * label_count_;
        const Count cost = class_cost(classes.people[id], own), small = suppressed(classes.people[id]);
        left.clear(label_count_);
        right.people = classes.people[id];
        right.labels.assign(own, own + label_count_);
        for (std::size_t place = 0; place + 1 < length; ++place) {
          left.people += people[place];
          right.people -= people[place];
          for (std::size_t label = 0; label < label_count_; ++label) {
            left.labels[label] += labels[place * label_count_ + label];
            right.labels[label] -= labels[place * label_count_ + label];
          }
          if (left.people == 0 || right.people == 0) continue;
          const std::size_t split = first_split_[attribute] + low + place;
          costs[split] += class_cost(left.people, left.labels.data()) +
                          class_cost(right.people, right.labels.data()) - cost;
          gone[split] += suppressed(left.people) + suppressed(right.people) - small;
        }
      }
    }
  }

  void remove_each(std::span<const Merging> mergings, const Boxes& classes, std::vector<Count>& costs,
                   std::vector<Count>& gone) const {
    Neighbours neighbours;
    neighbours.reset(classes);
    std::vector<Count> labels(label_count_);
    for (std::size_t attribute = 0; attribute < attributes(); ++attribute) {
      std::vector<std::size_t> split_before(mergings[attribute].count, 0);
      for (std::size_t place = 1; place < sizes_[attribute]; ++place) {
        const Code slot = mergings[attribute].slots[place];
        if (slot != mergings[attribute].slots[place - 1]) split_before[slot] = first_split_[attribute] + place - 1;
      }
      for (std::size_t lower = 0; lower < classes.size() && mergings[attribute].count > 1; ++lower) {
        const std::size_t upper = neighbours.above(lower, attribute);
        if (upper == Neighbours::kNone) continue;
        const Count* low = classes.labels.data() + lower * label_count_;
        const Count* high = classes.labels.data() + upper * label_count_;
        for (std::size_t label = 0; label < label_count_; ++label) labels[label] = low[label] + high[label];
        const Count below = classes.people[lower], above = classes.people[upper];
        const std::size_t split = split_before[classes.slots[attribute][upper]];
        costs[split] += class_cost(below + above, labels.data()) - class_cost(below, low) - class_cost(above, high);
        gone[split] += suppressed(below + above) - suppressed(below) - suppressed(above);
      }
    }
  }

  std::size_t label_count_;
  Count k_;
  Count limit_;
  bool by_label_;
  Count all_ = 0;
  Boxes rows_;
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> first_split_;
  std::vector<Code> attribute_of_;
};

}  // namespace kohorte

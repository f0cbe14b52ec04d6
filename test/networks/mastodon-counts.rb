# Counts texts by a Mastodon server's own code, and writes what it counts beside them:
#
#   ruby mastodon-counts.rb MASTODON < mastodon-counts.jsonl > counted.jsonl
#
# MASTODON is a checkout of github.com/mastodon/mastodon. Ruby needs the gems of its lock file that count: twitter-text
# 3.1.0 and idn-ruby. Each line is a list: the text, its length, and the text as it is counted, each link as 23 letters x.
require 'English'
require 'json'
require 'twitter-text'

# As much of Rails as these files use.
module ActiveModel
  class Validator; end
end
class ApplicationRecord; end
class Account < ApplicationRecord; end
class Object
  def blank? = respond_to?(:empty?) ? empty? : !self
  def present? = !blank?
end
class String
  def blank? = match?(/\A[[:space:]]*\z/)
end

mastodon = ARGV.fetch(0)
File.read("#{mastodon}/app/models/account.rb").scan(/^\s+((?:USERNAME|MENTION)_RE\s+=.*)$/) do |line,|
  Account.class_eval(line)
end
%w[config/initializers/twitter_regex app/lib/extractor app/validators/status_length_validator].each do |file|
  load "#{mastodon}/#{file}.rb"
end

validator = StatusLengthValidator.new
$stdin.each_line do |line|
  text, = JSON.parse(line)
  counted = validator.send(:countable_text, text)
  puts JSON.generate([text, validator.send(:countable_length, counted), counted])
end

//! Words of the field that stand for one another.
//!
//! Each line is a group: any member finds the others, at a weight below that of the word
//! itself. In a line with `>` the words before it find those behind it, and not the other way:
//! who opens a ticket creates one, but who creates one wants nothing opened. The table is
//! general vocabulary of tools and of those who ask for them, written by hand; it holds no
//! names of tools. Abbreviations are in it where the general rule (a prefix, or the letters in
//! order) does not find what they stand for. A two-letter word of Chinese stands beside its
//! English ones, so that a Chinese query finds something among English descriptions.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::stems::Stems;
use crate::vocabulary::number;

const GROUPS: &str = "\
create add new make insert register compose generate 创建 新建 添加 新增 生成
get fetch retrieve read show view obtain display lookup 获取 读取 查看 显示 查询
list enumerate all browse show 列出 列表 浏览
search find query lookup discover locate seek 搜索 查找 检索 查询
delete remove erase drop destroy discard purge clear uninstall 删除 移除 清除
update edit modify change alter set adjust patch revise rename 更新 修改 编辑 更改
send post deliver submit dispatch notify message 发送 提交 通知
run execute invoke launch start trigger perform 运行 执行 启动
stop cancel terminate kill abort end halt 停止 取消 终止
open navigate visit browse goto 打开 访问
close shut 关闭
save store write export persist record dump 保存 写入 存储 导出
load import upload ingest 导入 上传 加载
download export pull fetch 下载
copy duplicate clone replicate fork 复制 克隆
move relocate transfer rename 移动 转移 重命名
merge combine join concatenate union 合并
split divide separate partition 拆分 分割
compare diff difference contrast versus 比较 对比 差异
count number amount total quantity 数量 统计 计数
calculate compute calc evaluate determine math arithmetic 计算
convert transform translate change 转换
translate translation language 翻译 语言
summarize summary abstract overview digest 总结 摘要 概括
analyze analysis analytics inspect examine assess evaluate 分析
explain describe description definition meaning 解释 描述 说明
check verify validate test confirm ensure 检查 验证 校验 测试
connect link attach join bind 连接 关联
disconnect detach unlink 断开
enable activate on turn 启用 开启
disable deactivate off mute 禁用 关闭
install setup configure config deploy provision 安装 配置 部署
schedule plan calendar appointment meeting event booking agenda 日程 安排 会议 日历
book reserve reservation booking 预订 预约
buy purchase order shop shopping acquire 购买 下单 订单
sell sale listing 出售 销售
pay payment charge billing invoice 支付 付款 账单
price cost rate quote value fee 价格 费用
recommend suggest suggestion recommendation advise advice tips 推荐 建议
comment reply respond response feedback 评论 回复 反馈
review rating evaluation opinion 评价
assign allocate delegate 分配
approve accept permit allow authorize 批准 授权
reject deny decline refuse block 拒绝
share publish distribute 分享 发布
subscribe follow watch 订阅 关注
draw paint sketch render plot illustrate 绘制
resize scale crop shrink enlarge 缩放 裁剪
play listen stream 播放
monitor watch track observe 监控 跟踪
login signin auth authenticate authentication credential password 登录 认证 密码
encrypt cipher encode 加密
decrypt decode 解密
compress zip archive pack 压缩
extract unzip unpack parse scrape 提取 解析
sort order rank arrange 排序
filter narrow restrict 过滤 筛选
sum add total plus addition 求和
average mean avg 平均
sync synchronize mirror 同步
restore recover undo revert rollback reset 恢复 撤销 重置
backup snapshot 备份
build compile 构建 编译
debug troubleshoot diagnose 调试
error fail failure exception bug fault 错误 异常
file document doc attachment 文件 文档
folder directory dir path 目录 文件夹 路径
image picture photo pic img photograph png jpg jpeg 图片 图像 照片
video clip movie film youtube footage 视频 影片
movie film cinema 电影
music song audio tune melody 音乐 歌曲
audio sound voice speech mp3 wav 音频 语音 声音
text content string 文本 内容
email mail inbox gmail 邮件 邮箱
message msg chat sms dm conversation 消息 聊天 短信
phone call telephone mobile 电话 手机
contact person people address 联系人 联系
user account member profile 用户 账户 成员 账号
team group organization org 团队 组织
task todo reminder ticket issue chore 任务 待办 提醒
issue ticket bug problem 问题 工单
project workspace 项目
repository repo codebase 仓库 代码库
pr pull merge 合并请求
branch fork 分支
commit revision history log changes 提交 历史
code source script program snippet 代码 脚本
function method procedure 函数 方法
variable parameter argument param 变量 参数
website site webpage page web url link domain homepage 网站 网页 链接 域名
internet web online 网络
browser chrome page tab 浏览器
database db sql table postgres mysql sqlite 数据库 数据
table sheet spreadsheet excel xlsx csv grid 表格
row record entry line 记录
column field attribute property 字段
word docx doc document
presentation slides slide powerpoint ppt pptx deck 幻灯 演示
pdf document paper
chart graph plot diagram visualization visualize histogram 图表 绘图
map location place geographic geocode coordinates 地图 位置 地点
route directions direction navigation navigate path way 路线 导航
distance far length 距离
weather forecast temperature climate rain humidity 天气 气温 预报
time clock hour date timezone datetime now current 时间 日期 时区
stock share equity ticker market investment 股票 股市
crypto cryptocurrency bitcoin btc ethereum token coin 加密
currency exchange forex money dollar euro conversion 汇率 货币
bank account loan mortgage credit interest 银行 贷款
finance financial money fund invest investing investment portfolio 金融 财务 投资
news headline article story press 新闻 头条
article blog post paper publication 文章 博客
paper research academic study arxiv scholar journal publication 论文 研究
book novel library read literature 图书 书籍
recipe cook cooking dish meal food ingredient cuisine 菜谱 食谱 烹饪
restaurant dining eat food dinner lunch cafe 餐厅 美食
hotel accommodation lodging stay room airbnb 酒店 住宿
flight plane airline airport fly airfare 航班 机票 飞机
train rail railway ticket subway metro 火车 车票 地铁
travel trip journey vacation tour tourism itinerary holiday 旅行 旅游 行程
car vehicle auto automobile automotive 汽车 车辆
ride taxi cab uber 出租
house home property estate apartment housing realtor rent 房产 房屋
job career employment hiring hire position vacancy recruit 工作 职位 招聘
resume cv 简历
course class lesson learn learning education tutorial study teach training tutor 课程 学习 教育
student school university college teacher 学生 学校
exam quiz test question 考试
health medical medicine disease clinical hospital doctor patient symptom 健康 医疗 疾病
fitness workout exercise gym training 健身 锻炼
diet nutrition calorie 饮食 营养
law legal lawyer attorney court regulation 法律 法规
government politics political congress legislation 政府
tax taxes vat 税务
game gaming play player 游戏
sport sports football soccer basketball match league team 体育 比赛 足球
ticket concert show 门票 演出
concert event show 演出
gift present 礼物
product item goods merchandise 商品 产品
discount coupon deal promotion offer bargain sale voucher 优惠 折扣
customer client lead 客户
company business enterprise firm corporation organization 公司 企业
marketing advertising ad ads campaign seo promotion 营销 广告
seo keyword ranking serp
design template style layout visual 设计 模板
logo icon brand 图标 品牌
color colour 颜色
font typeface 字体
note memo notebook notes journal 笔记 备忘
knowledge graph memory remember recall entity 知识 记忆
node entity vertex 节点
relation relationship edge connection 关系
tag label category 标签 分类
key secret token credential apikey 密钥
server host machine node instance vm 服务器 主机
container docker image pod 容器
kubernetes k8s cluster pod 集群
cloud aws azure gcp 云端
log logs trace 日志
metric metrics statistics stats statistic 指标 统计
alert alarm notification warning 警报 告警
process pid program job 进程
terminal shell command cli bash cmd console 终端 命令
network ip dns port
memory ram
disk storage drive volume 磁盘 存储
version release tag 版本
dependency package library module 依赖
schema structure model 结构 模式
random dice roll coin flip 随机
animal pet dog cat 动物 宠物
plant garden gardening flower 植物
fashion clothes clothing outfit wear style 时尚 服装
beauty cosmetics makeup skincare 美容
love dating relationship partner
astrology horoscope zodiac 星座
joke humor funny meme 笑话
image art artwork painting drawing 绘画
space nasa astronomy planet star astronaut 太空
poem poetry lyrics 诗歌
podcast episode 播客
social twitter tweet facebook instagram media 社交
question ask answer qa 提问 回答
user customer
delete cancel
height tall
weight heavy mass
speed velocity fast
area surface square
volume capacity
big large size
begin start
near nearby close around 附近
parking park carpark
environment env 环境
application app 应用
information info 信息
authentication auth
administrator admin
management manage manager 管理
number num
temperature temp
temporary temp tmp
configuration config cfg settings setting preferences option 设置
development dev
production prod
message msg
request req
response resp
image img
database db
source src
destination dst target dest
previous prev
maximum max
minimum min
identifier id uuid
attribute attr
button btn
error err
directory dir
document doc
execute exec
generate gen
library lib
package pkg
password pwd passwd
reference ref
screenshot capture snapshot screen 截图
artificial ai intelligence
javascript js
typescript ts
python py
markdown md
postgres postgresql pg
continuous ci pipeline workflow build
internationalization i18n
localization l10n
open raise report > create
schedule arrange > create
close > resolve finish complete done";

/// The table, read.
#[derive(Default)]
struct Table {
    /// The numbers of the stems of what stands for a word, in the order of the table.
    by_word: HashMap<&'static str, Vec<u32>>,
    /// The numbers of the stems of its words.
    numbers: HashMap<String, u32>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let stems = Stems::new();
    let mut table = Table::default();
    for line in GROUPS.lines() {
        let (asked, found) = line.split_once(" > ").unwrap_or((line, line));
        for word in asked.split_ascii_whitespace() {
            let others = table.by_word.entry(word).or_default();
            for other in found
                .split_ascii_whitespace()
                .filter(|other| *other != word)
            {
                let next = number(table.numbers.len());
                let number = *table.numbers.entry(stems.stem(other)).or_insert(next);
                if !others.contains(&number) {
                    others.push(number);
                }
            }
        }
    }
    table
});

/// The number that the table gives a stem, if one of its words has it.
pub(crate) fn synonym(stem: &str) -> Option<u32> {
    TABLE.numbers.get(stem).copied()
}

/// The numbers of the stems of the words that stand for a word. An inflected word is also
/// looked for by its stem, where the table has that.
pub(crate) fn synonyms(word: &str, stem: &str) -> &'static [u32] {
    let table = &TABLE.by_word;
    table
        .get(word)
        .or_else(|| table.get(stem))
        .map_or(&[], Vec::as_slice)
}
